import type { Skill } from '../../skills/skill.js';

/** A skill without its text, for machines. */
export function skillData(skill: Skill): Readonly<Record<string, unknown>> {
  const { name, origin, source, file, directory, head, trusted, bodyLine, problems } = skill;
  return { name, origin, source, file, directory, trusted, bodyLine, head, problems };
}
