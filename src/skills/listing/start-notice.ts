import { visible } from '../../lib/visible.js';
import type { Skill, SkippedSkill } from '../skill.js';

const MOST_TOLD = 3;

/** Notices at the start about skills and commands with mistakes or the same name. */
export function skillNotice(
  skills: readonly Pick<Skill, 'file' | 'problems'>[],
  skipped: readonly SkippedSkill[],
): string | undefined {
  const lines = [
    ...skipped
      .filter(({ told }) => told === true)
      .map(({ name, file, reason }) => `${file}: /${name} is not in force: ${reason}`),
    ...skills.flatMap(({ file, problems }) =>
      problems
        .filter(({ told }) => told === true)
        .map(({ line, message }) => `${line === undefined ? file : `${file}:${line}`}: ${message}`),
    ),
  ];
  if (lines.length === 0) return undefined;
  const more = lines.length > MOST_TOLD ? `; ${lines.length - MOST_TOLD} more` : '';
  const told = visible(lines.slice(0, MOST_TOLD).join('; '));
  return `skills: ${told}${more}. \`portcullis skills list\` and \`skills validate\` show all`;
}
