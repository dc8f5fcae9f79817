import { BUNDLED_HEADS } from '../generated/bundled-heads.js';
import type { Extraction } from './extract.js';
import { readSkill } from './head.js';
import type { Skill } from './skill.js';

/** The skills that come in the box. Their files are put on disk when one of them is used. */
export function bundledSkills(extraction: Extraction): readonly Skill[] {
  return BUNDLED_HEADS.map(({ name, head, bodyLine }) => ({
    name,
    origin: 'bundled',
    source: 'builtin',
    file: `bundled:${name}`,
    directory: extraction.directoryOf(name),
    head,
    trusted: true,
    bodyLine,
    problems: [],
    body: () => bodyOf(name, extraction),
  }));
}

async function bodyOf(name: string, extraction: Extraction): Promise<string> {
  const { BUNDLED_SKILLS } = await import('./bundled/index.js');
  const skill = BUNDLED_SKILLS.find((one) => one.name === name);
  if (skill === undefined) throw new Error(`there is no text of the bundled skill ${name}`);
  if (Object.keys(skill.files).length > 0) extraction.extract(name, skill.files);
  return (await readSkill(skill.text)).body;
}
