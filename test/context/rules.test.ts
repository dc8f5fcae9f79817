import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { bookWorld, never } from './book-rig.js';

const rule = (head: string, body: string): string => `---\n${head}\n---\n${body}`;

const RULES = {
  'project/.claude/rules/always.md': 'R_ALWAYS',
  'project/.claude/rules/ts.md': rule('paths: "**/*.ts"', 'R_TS'),
  'project/.claude/rules/bare.md': rule('paths: **/*.ts', 'R_BARE'),
  'project/.claude/rules/list.md': rule('paths:\n  - src/api/**\n  - lib/*.js', 'R_LIST'),
  'project/.claude/rules/comma.md': rule('paths: src/a.txt, src/b.txt', 'R_COMMA'),
  'project/.claude/rules/star.md': rule('paths: "**"', 'R_STAR'),
  'project/.claude/rules/brace.md': rule('paths: "src/*.{ts,tsx}"', 'R_BRACE'),
  'project/.claude/rules/other.md': rule('description: x', 'R_OTHER'),
  'project/.claude/rules/never.md': rule('paths: nowhere/**', 'R_NEVER'),
  'project/.claude/rules/dir.md': rule('paths: src', 'R_DIR'),
  'project/.claude/rules/deep/er/x.md': 'R_DEEP',
  'project/.claude/rules/notes.txt': 'R_TXT',
  'project/src/x.ts': 'x',
};

describe('rules', () => {
  it('without paths apply from the start, without their head', async () => {
    const world = bookWorld(RULES);
    const found = await world.book().open();
    expect(world.texts(found)).toEqual(['R_ALWAYS', 'R_DEEP', 'R_OTHER', 'R_STAR']);
    expect(found.files.every(({ kind }) => kind === 'rule')).toBe(true);
    expect(found.skipped).toEqual([]);
  });

  it('with paths apply once a file that fits is used', async () => {
    const world = bookWorld(RULES);
    const book = world.book();
    const touch = async (...names: string[]) =>
      world.texts(await book.touched(names.map(world.at), never));
    expect(await touch('README.md', 'lib/deep/q.js')).toEqual([]);
    expect(await touch('src/x.ts')).toEqual(['R_BARE', 'R_BRACE', 'R_DIR', 'R_TS']);
    expect(await touch('src/x.ts')).toEqual([]);
    expect(await touch('src/api/h.py', 'src/a.txt')).toEqual(['R_LIST', 'R_COMMA']);
    expect(await touch('lib/new.js')).toEqual([]);
    expect((await book.report()).waiting).toEqual([
      expect.objectContaining({ path: world.at('.claude/rules/never.md'), globs: ['nowhere/**'] }),
    ]);
  });

  it('say by which file and which patterns they came into play', async () => {
    const world = bookWorld(RULES);
    const { files } = await world.book().touched([world.at('lib/q.js')], never);
    expect(files).toEqual([
      expect.objectContaining({
        path: world.at('.claude/rules/list.md'),
        loadReason: 'path_glob_match',
        memoryType: 'Project',
        globs: ['src/api/**', 'lib/*.js'],
        trigger: world.at('lib/q.js'),
        text: 'R_LIST',
      }),
    ]);
  });

  it.each([
    ['a bad list', '---\npaths: [unclosed\n---\nBODY', 1],
    ['an open quote', '---\npaths: "src/**\n---\nBODY', 1],
    ['no YAML at all', '---\n: : {\n---\nBODY', 1],
    ['no end', '---\npaths: src/**\nBODY', 1],
    ['a number', '---\npaths: 5\n---\nBODY', 1],
    ['a tab', '---\n\tpaths: src/**\n---\nBODY', 1],
    ['a table', '---\npaths:\n  a: b\n---\nBODY', 1],
    ['numbers in a list', '---\npaths: [1, 2]\n---\nBODY', 1],
    ['nothing', '---\npaths:\n---\nBODY', 0],
    ['an empty list', '---\npaths: []\n---\nBODY', 0],
    ['another name', '---\nglobs: src/**\n---\nBODY', 0],
  ])('apply always when their head holds %s, and say so', async (_what, text, notes) => {
    const world = bookWorld({ 'project/.claude/rules/r.md': text });
    const { files } = await world.book().open();
    expect(files).toHaveLength(1);
    expect(files[0]?.text).toContain('BODY');
    expect(files[0]?.notes).toHaveLength(notes);
  });

  it('of the user and the administrator are meant from the project', async () => {
    const world = bookWorld(
      {
        'home/.claude/rules/u.md': rule('paths: src/**', 'USER'),
        'managed/.claude/rules/m.md': rule('paths: pkg/src/**', 'MANAGED'),
        'project/pkg/x': 'x',
      },
      { git: true },
    );
    const touch = async (file: string) =>
      world.texts(await world.book({ cwd: 'pkg' }).touched([file], never));
    expect(await touch(world.at('pkg/src/a.ts'))).toEqual(['MANAGED', 'USER']);
    expect(await touch(world.at('src/a.ts'))).toEqual(['USER']);
    expect(await touch(path.join(world.root, 'outside/src/a.ts'))).toEqual([]);
  });

  it('follow links and end in circles', async () => {
    const world = bookWorld({
      'project/.claude/rules/r.md': 'R',
      'project/.claude/rules/loop': { link: '.' },
      'project/shared/s.md': 'S',
      'project/.claude/rules/shared': { link: '../../shared' },
      'project/.claude/rules/again.md': { link: 'r.md' },
    });
    expect(world.texts(await world.book().open())).toEqual(['R', 'S']);
  });

  it('may include, and what they include waits with them', async () => {
    const world = bookWorld({
      'project/.claude/rules/r.md': rule('paths: src/**', 'R @./more.txt'),
      'project/.claude/rules/more.txt': 'MORE',
    });
    const book = world.book();
    expect((await book.open()).files).toEqual([]);
    const { files } = await book.touched([world.at('src/x')], never);
    expect(files.map(({ loadReason }) => loadReason)).toEqual(['path_glob_match', 'include']);
  });

  it('wait also with a head that is longer than a first look', async () => {
    const head = `description: ${'x'.repeat(20_000)}\npaths: src/**`;
    const world = bookWorld({ 'project/.claude/rules/r.md': rule(head, 'R') });
    const book = world.book();
    expect((await book.open()).files).toEqual([]);
    expect(world.texts(await book.touched([world.at('src/x')], never))).toEqual(['R']);
  });

  it('that are no files are named', async () => {
    const world = bookWorld({
      'project/.claude/rules/z.md': { link: '/dev/zero' },
      'project/.claude/rules/gone.md': { link: 'nothing' },
      'project/.claude/rules/r.md': 'R',
    });
    const found = await world.book().open();
    expect(world.texts(found)).toEqual(['R']);
    expect(world.skipped(found)).toEqual(['project/.claude/rules/z.md: not regular']);
  });
});
