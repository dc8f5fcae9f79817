import { describe, expect, it } from 'vitest';
import { nodeFileSystem } from '../../src/platform/fs/node-fs.js';
import { privateDirectory } from '../../src/platform/fs/private-files.js';
import { openExtraction } from '../../src/skills/discovery/bundled-skills.js';
import { oneSkill as one, openWorld, skillText } from './rig.js';

describe('many and large', () => {
  it('reads each of 500 skills once, and nothing before it is asked for', async () => {
    const files = Object.fromEntries(
      Array.from({ length: 500 }, (_, index) => [
        `.claude/skills/s${index}/SKILL.md`,
        skillText(`description: number ${index}`, 'x'.repeat(20_000)),
      ]),
    );
    const calls = { read: 0, list: 0, open: 0, most: 0 };
    const { book } = openWorld({
      files,
      fs: (real) => ({
        ...real,
        list: async (at) => {
          calls.list++;
          return await real.list(at);
        },
        readWithStat: async (at, options) => {
          calls.read++;
          calls.most = Math.max(calls.most, ++calls.open);
          await new Promise((resolve) => setImmediate(resolve));
          const read = await real.readWithStat(at, options);
          calls.open--;
          return read;
        },
      }),
    });
    expect(calls).toMatchObject({ list: 0, read: 0 });
    await Promise.all([book.list(), book.list(), book.skipped()]);
    expect(await book.list()).toHaveLength(500);
    expect(calls).toMatchObject({ read: 500, list: 1 });
    expect(calls.most).toBeLessThanOrEqual(16);
    expect(await (await book.find('s7'))?.body()).toHaveLength(20_000);
    expect(calls.read).toBe(501);
  });

  it('reads on until a long head is closed, and not for ever', async () => {
    const long = 'word '.repeat(10_000);
    const { book, reason } = openWorld({
      files: {
        '.claude/skills/a/SKILL.md': skillText(`description: ${long}\nuser-invocable: false`),
        '.claude/skills/edge/SKILL.md': `---\n${`# ${'c'.repeat(80)}\n`.repeat(98)}user-invocable: no\n---\nText.`,
        '.claude/skills/b/SKILL.md': `---\ndescription: ${'x'.repeat(1_000_000)}\n---\nBODY`,
        '.claude/skills/c/SKILL.md': 'x'.repeat(5_000_000),
        '.claude/skills/d/SKILL.md': `${'é'.repeat(8 * 1024)}`,
      },
    });
    const [a, b, d, edge] = await book.all();
    expect(a?.head.userInvocable).toBe(false);
    expect(edge?.head).toMatchObject({ userInvocable: false, description: 'Text.' });
    expect(b?.head.disableModelInvocation).toBe(true);
    expect(d?.head.description).toMatch(/^é+$/);
    expect(await reason('c')).toContain('larger than');
  });

  it('sees a head that hides behind blank lines', async () => {
    const head = skillText('disable-model-invocation: true\nallowed-tools: Bash');
    const { book, reason } = openWorld({
      files: {
        '.claude/skills/a/SKILL.md': `${'\n'.repeat(9_000)}${head}`,
        '.claude/skills/b/SKILL.md': `${' \n'.repeat(4_095)}${head}`,
        '.claude/skills/c/SKILL.md': `${'\n'.repeat(400_000)}${head}`,
      },
    });
    const skills = await book.all();
    expect(
      skills.map(({ name, head: { disableModelInvocation } }) => [name, disableModelInvocation]),
    ).toEqual([
      ['a', true],
      ['b', true],
    ]);
    expect(await reason('c')).toContain('blanks');
    expect(await skills[0]?.body()).toBe('BODY');
  });

  it('does not fall over a file that cannot be read', async () => {
    const { names, reason } = openWorld({
      files: { ...one('a'), ...one('b') },
      fs: (real) => ({
        ...real,
        readWithStat: async (at, options) => {
          if (at.includes('/a/')) throw new Error('EIO');
          return await real.readWithStat(at, options);
        },
      }),
    });
    expect(await names()).toEqual(['b']);
    expect(await reason('a')).toContain('EIO');
  });
});

describe('bundled skills', () => {
  it('come with their files, in a directory of their own, when they are used', async () => {
    const { project } = openWorld();
    const place = privateDirectory(project.root, 'portcullis-skills-');
    const { book } = openWorld({ bundled: openExtraction(place) });
    const skills = await book.list();
    expect(skills.map(({ name, origin, trusted }) => [name, origin, trusted])).toEqual([
      ['review-permissions', 'bundled', true],
      ['write-a-hook', 'bundled', true],
      ['write-a-skill', 'bundled', true],
    ]);
    for (const { head, problems } of skills) {
      expect(problems).toEqual([]);
      expect(head.description?.length).toBeGreaterThan(40);
    }
    expect(await nodeFileSystem.stat(place.path)).toBeUndefined();
    const skill = await book.find('write-a-skill');
    expect(await skill?.body()).toContain('SKILL.md');
    expect(await skill?.body()).toContain('SKILL.md');
    const names = (await nodeFileSystem.list(skill?.directory ?? '')).map(({ name }) => name);
    expect(names).toEqual(['template.md']);
    expect(((await nodeFileSystem.stat(place.path))?.mode ?? 0) & 0o777).toBe(0o700);
    place.remove();
    expect(await nodeFileSystem.stat(place.path)).toBeUndefined();
  });
});
