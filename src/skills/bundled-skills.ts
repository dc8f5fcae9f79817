import type { BundledSkill } from './bundled/index.js';
import type { Extraction } from './extract.js';
import { type ReadSkill, readSkill } from './head.js';
import type { Skill } from './skill.js';

/** The skills that come in the box. Their files are put on disk when one of them is used. */
export async function bundledSkills(
  extraction: Extraction,
  given?: readonly BundledSkill[],
): Promise<readonly Skill[]> {
  const texts = given ?? (await import('./bundled/index.js')).BUNDLED_SKILLS;
  return await Promise.all(texts.map((one) => bundledSkill(one, extraction)));
}

/** Read once for all sessions of a process: their texts are part of the program. */
const read = new WeakMap<BundledSkill, Promise<ReadSkill>>();

async function bundledSkill(one: BundledSkill, extraction: Extraction): Promise<Skill> {
  const { name, text, files } = one;
  const reading = read.get(one) ?? readSkill(text);
  read.set(one, reading);
  const { head, body, bodyLine, problems } = await reading;
  const directory = extraction.directoryOf(name);
  return {
    name,
    origin: 'bundled',
    source: 'builtin',
    file: `bundled:${name}`,
    directory,
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
