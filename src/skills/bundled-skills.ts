import { BUNDLED_SKILLS, type BundledSkill } from './bundled/index.js';
import type { Extraction } from './extract.js';
import { readSkill } from './head.js';
import type { Skill } from './skill.js';

/** The skills that come with the program. Their files are written to disk when one of them is used. */
export async function bundledSkills(extraction: Extraction): Promise<readonly Skill[]> {
  return await Promise.all(BUNDLED_SKILLS.map((skill) => load(skill, extraction)));
}

async function load({ name, text, files }: BundledSkill, extraction: Extraction): Promise<Skill> {
  const { head, body, bodyLine, problems } = await readSkill(text);
  return {
    name,
    origin: 'bundled',
    source: 'builtin',
    file: `bundled:${name}`,
    directory: extraction.directoryOf(name),
    head,
    trusted: true,
    bodyLine,
    problems,
    async body() {
      if (Object.keys(files).length > 0) extraction.extract(name, files);
      return body;
    },
  };
}
