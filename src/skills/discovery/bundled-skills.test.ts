import { describe, expect, it } from 'vitest';
import { BUNDLED_SKILLS } from '../bundled/index.js';
import { readSkill } from '../head/head.js';
import { bundledSkills } from './bundled-skills.js';

async function opened() {
  const extracted: string[] = [];
  const skills = await bundledSkills({
    directoryOf: (skill) => `/private/${skill}`,
    extract(skill) {
      extracted.push(skill);
      return `/private/${skill}`;
    },
  });
  return { skills, extracted };
}

describe('bundledSkills', () => {
  it('are all that come in the box, in their order', async () => {
    expect((await opened()).skills.map(({ name }) => name)).toEqual(
      BUNDLED_SKILLS.map(({ name }) => name),
    );
  });

  it.each(BUNDLED_SKILLS.map((one) => [one.name, one] as const))(
    'say of %s what its text says',
    async (name, { text }) => {
      const skill = (await opened()).skills.find((one) => one.name === name);
      const { head, body, bodyLine, problems } = await readSkill(text);
      expect(skill).toMatchObject({ head, bodyLine, problems, directory: `/private/${name}` });
      expect(await skill?.body()).toBe(body);
    },
  );

  it('put files on disk when one that has some is used, and not before', async () => {
    const { skills, extracted } = await opened();
    expect(extracted).toEqual([]);
    for (const skill of skills) await skill.body();
    const withFiles = BUNDLED_SKILLS.filter(({ files }) => Object.keys(files).length > 0);
    expect(extracted).toEqual(withFiles.map(({ name }) => name));
  });
});
