import { describe, expect, it } from 'vitest';
import { openAgentWorld } from '../agents/definitions-rig.js';
import { openWorld, skillText } from './rig.js';

const FILE = '.claude/skills/a/SKILL.md';

/** A file system in which no change ever shows in the times of a file. */
const timeless = <F extends { stat: unknown }>(fs: F): F => {
  const same = (stat: object | undefined) =>
    stat === undefined ? undefined : { ...stat, mtimeMs: 1, ctimeMs: 1, inode: 1, size: 4096 };
  const real = fs as unknown as Record<string, (path: string, options?: object) => unknown>;
  return {
    ...fs,
    stat: async (path: string) => same((await real.stat?.(path)) as object | undefined),
    lstat: async (path: string) => same((await real.lstat?.(path)) as object | undefined),
    readWithStat: async (path: string, options: object) => {
      const read = (await real.readWithStat?.(path, options)) as { stat: object };
      return { ...read, stat: same(read.stat) };
    },
  };
};

describe('a skill that is used', () => {
  it('is what is in its file now, head and text, whatever the times say', async () => {
    const used: string[] = [];
    const { book, project } = openWorld({
      files: { [FILE]: skillText('description: one', 'FIRST') },
      fs: timeless,
      trusts: async (_directory, document) => {
        used.push(`${document?.file} ${document?.text.slice(-6)}`);
        return true;
      },
    });
    expect((await book.offered()).map(({ head }) => head.description)).toEqual(['one']);
    project.write(FILE, skillText('description: two\nallowed-tools: Bash', 'SECOND'));
    // The list may be of an earlier look.
    expect((await book.offered()).map(({ head }) => head.description)).toEqual(['one']);
    const skill = await book.find('a');
    expect(skill?.head).toMatchObject({ description: 'two', allowedTools: ['Bash'] });
    project.write(FILE, skillText('description: three', 'THIRD'));
    // What was judged is what is used.
    expect(await skill?.body()).toBe('SECOND');
    expect(used).toEqual([`${project.at(FILE)} SECOND`]);
  });

  it('is not used when what is there now cannot be', async () => {
    const { book, project, reason } = openWorld({
      files: { [FILE]: skillText('description: one') },
      fs: timeless,
    });
    await book.offered();
    project.write(FILE, skillText('description: two\ndisallowed-tools: {a: b}'));
    expect(await book.find('a')).toBeUndefined();
    expect(await reason('a')).toContain('a restriction cannot be read');
  });

  it('has no name that is passed over where people are asked', async () => {
    const { names, reason } = openWorld({
      files: { '.claude/skills/node_modules/SKILL.md': skillText('description: d') },
    });
    expect(await names()).toEqual([]);
    expect(await reason('node_modules')).toContain('no skill may have this name');
  });

  it.each([
    ['blanks and one letter', `${' '.repeat(1_000_000)}x`],
    ['a line that is nearly all blank', `---\na${' '.repeat(300_000)}b\n---\nx`],
    [
      'a map of very many keys',
      `---\nd: {${Array.from({ length: 45_000 }, (_, index) => index.toString(36)).join(',')}}\n---\nx`,
    ],
    [
      'a list of quotes behind blanks',
      `---\nd: [${' '.repeat(100_000)}x${"'".repeat(100_000)}]\n---\nx`,
    ],
  ])('or only listed is read in one go: %s', async (_what, text) => {
    const { book } = openWorld({ files: { [FILE]: text } });
    expect((await book.offered()).length + (await book.skipped()).length).toBe(1);
  });
});

describe('an agent that is used', () => {
  it('is what is in its file now, head and prompt, whatever the times say', async () => {
    const at = '.claude/agents/a.md';
    const text = (words: string): string =>
      `---\nname: a\ndescription: ${words}\npermissionMode: acceptEdits\n---\nP_${words}`;
    const judged: (string | undefined)[] = [];
    const { book, project } = openAgentWorld({
      files: { [at]: text('one') },
      fs: timeless,
      trusts: async (_directory, used) => {
        judged.push(used?.text);
        return used === undefined || used.text.includes('two');
      },
    });
    await book.list();
    project.write(at, text('two'));
    const found = await book.find('a');
    expect(found).toMatchObject({ description: 'two', permissionMode: 'acceptEdits' });
    expect(await found?.prompt()).toBe('P_two');
    expect(judged.at(-1)).toBe(text('two'));
    project.write(at, text('six'));
    expect(await book.find('a')).toMatchObject({ trusted: false, description: 'six' });
    expect(await found?.prompt()).toBe('P_two');
    project.write(at, text('one').replace('name: a', 'name: b'));
    expect(await book.find('a')).toBeUndefined();
  });
});
