import path from 'node:path';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createInstructionBook } from '../../src/context/instructions/book.js';
import { DEFAULT_INSTRUCTION_SETTINGS } from '../../src/context/instructions/settings.js';
import type { FileSystem } from '../../src/platform/fs/fs.js';
import { nodeFileSystem } from '../../src/platform/fs/node-fs.js';
import { bookWorld, type Files } from './book-rig.js';

const FORMS = {
  'project/CLAUDE.md': `TOP
@./a.md
@b.md
@docs/c.md
@~/inc.md
@{ROOT}/outside/ext.md
@{ROOT}/project/abs.md
text with @mid.md inside
- @list.md
@dot.md.
@comma.md, x
(@paren.md)
"@quote.md"
@my\\ file.md
@anch.md#part
mail me@mail.md
@missing.md
@sub
END`,
  'project/a.md': 'I_A',
  'project/b.md': 'I_B',
  'project/docs/c.md': 'I_C\n@./d.md',
  'project/docs/d.md': 'I_D',
  'project/abs.md': 'I_ABS',
  'project/mid.md': 'I_MID',
  'project/list.md': 'I_LIST',
  'project/dot.md': 'I_DOT',
  'project/comma.md': 'I_COMMA',
  'project/paren.md': 'I_PAREN',
  'project/quote.md': 'I_QUOTE',
  'project/my file.md': 'I_SPACE',
  'project/anch.md': 'I_ANCH',
  'project/mail.md': 'I_MAIL',
  'project/sub/x.md': 'I_DIR',
  'home/inc.md': 'I_HOME',
  'outside/ext.md': 'I_EXT',
} satisfies Files;

describe('an include', () => {
  it('stands behind the file that names it, whose text stays as it is', async () => {
    const world = bookWorld(FORMS);
    const found = await world.book().open();
    const [top, ...rest] = world.texts(found);
    expect(top).toContain('@./a.md\n@b.md');
    expect(rest.map((text) => text.split('\n')[0])).toEqual(
      'I_A I_B I_C I_D I_ABS I_MID I_LIST I_SPACE I_ANCH'.split(' '),
    );
    expect(found.files.map(({ loadReason }) => loadReason)).toEqual([
      'session_start',
      ...rest.map(() => 'include'),
    ]);
    expect(found.files[4]).toMatchObject({ parent: world.at('docs/c.md'), scope: 'project' });
  });

  it('from outside of the project is named and left out until it is approved', async () => {
    const world = bookWorld(FORMS);
    const found = await world.book().open();
    const external = found.skipped.filter(({ kind }) => kind === 'external');
    expect(external).toEqual([
      expect.objectContaining({ realPath: path.join(world.root, 'home/inc.md'), warn: true }),
      expect.objectContaining({
        realPath: path.join(world.root, 'outside/ext.md'),
        parent: world.at('CLAUDE.md'),
      }),
    ]);
    const approvals = { answerTo: async () => 'approve' as const };
    const all = world.texts(await world.book({ approvals }).open());
    expect(all).toContain('I_HOME');
    expect(all).toContain('I_EXT');
  });

  it('is not found silently where there is none', async () => {
    const world = bookWorld(FORMS);
    const { skipped } = await world.book().open();
    expect(skipped.filter(({ kind }) => kind === 'missing')).toEqual([
      expect.objectContaining({ path: '@missing.md', parent: world.at('CLAUDE.md'), warn: false }),
    ]);
  });

  it('of the user may come from anywhere, of CLAUDE.local.md not', async () => {
    const world = bookWorld({
      'home/.claude/CLAUDE.md': 'U @{ROOT}/outside/ext.md @./near.md @~/inc.md',
      'home/.claude/near.md': 'NEAR @{ROOT}/outside/more.md',
      'home/inc.md': 'HOME',
      'outside/ext.md': 'EXT',
      'outside/more.md': 'MORE',
      'project/CLAUDE.local.md': 'L @{ROOT}/outside/local.md',
      'outside/local.md': 'LOCAL',
    });
    const found = await world.book().open();
    expect(world.texts(found).map((text) => text.split(' ')[0])).toEqual(
      'U EXT NEAR MORE HOME L'.split(' '),
    );
    expect(new Set(found.files.slice(0, 5).map(({ scope }) => scope))).toEqual(new Set(['user']));
    expect(world.skipped(found)).toEqual(['outside/local.md: external']);
  });

  it('cannot leave the project by dots, links or a folder of links', async () => {
    const world = bookWorld({
      'project/CLAUDE.md': '@../outside/x.md @link.md @folder/x.md @chain.md',
      'outside/x.md': 'SECRET',
      'project/link.md': { link: '../outside/x.md' },
      'project/folder': { link: '../outside' },
      'project/chain.md': { link: 'link.md' },
    });
    const found = await world.book().open();
    expect(found.files).toHaveLength(1);
    expect(found.skipped.map(({ kind }) => kind)).toEqual([
      'external',
      'external',
      'external',
      'external',
    ]);
  });

  it('above the project brings in nothing from beside it', async () => {
    const world = bookWorld({
      'CLAUDE.md': 'ABOVE @beside.md @project/in.md',
      'beside.md': 'BESIDE',
      'project/in.md': 'IN',
    });
    const found = await world.book().open();
    expect(world.texts(found)).toEqual(['ABOVE @beside.md @project/in.md', 'IN']);
    expect(world.skipped(found)).toEqual(['beside.md: external']);
  });

  it('does not show what a rule hides, also not for the user', async () => {
    const world = bookWorld({
      'project/CLAUDE.md': 'P @.env',
      'project/.env': 'SECRET',
      'home/.claude/CLAUDE.md': 'U @~/key.md',
      'home/key.md': 'SECRET',
    });
    const isHidden = async (file: string) => /\.env$|key\.md$/.test(file);
    const found = await world.book({ isHidden }).open();
    expect(world.skipped(found)).toEqual(['home/key.md: hidden', 'project/.env: hidden']);
    expect(found.files).toHaveLength(2);
  });

  it('is shown once, in circles too', async () => {
    const world = bookWorld({
      'project/CLAUDE.md': 'TOP\n@a.md\n@a.md\n@./a.md\n@same.md',
      'project/a.md': 'I_A\n@b.md',
      'project/b.md': 'I_B\n@a.md\n@CLAUDE.md',
      'project/same.md': { link: 'a.md' },
    });
    expect(world.texts(await world.book().open()).map((text) => text.split('\n')[0])).toEqual([
      'TOP',
      'I_A',
      'I_B',
    ]);
  });

  it('goes four files deep, and says where it ended', async () => {
    const chain = Object.fromEntries(
      Array.from({ length: 8 }, (_, n) => [`project/d${n + 1}.md`, `D${n + 1}\n@d${n + 2}.md`]),
    );
    const world = bookWorld({ 'project/CLAUDE.md': 'D0\n@d1.md', ...chain });
    const found = await world.book().open();
    expect(world.texts(found).map((text) => text.slice(0, 2))).toEqual([
      'D0',
      'D1',
      'D2',
      'D3',
      'D4',
    ]);
    expect(world.skipped(found)).toEqual(['project/d5.md: too deep']);
  });

  it('is text by name and by content', async () => {
    const names =
      'f.ts f.json .env LICENSE Makefile f.csv f.lock f.png f.pdf f.exe f.svg f.unknownext'.split(
        ' ',
      );
    const world = bookWorld({
      'project/CLAUDE.md': ['TOP', ...names, 'bin.md', 'latin.md']
        .map((name) => `@${name}`)
        .join('\n'),
      ...Object.fromEntries(names.map((name) => [`project/${name}`, `T_${name}`])),
      'project/bin.md': new Uint8Array([0x54, 0, 1, 2]),
      'project/latin.md': new Uint8Array([0x54, 0xff]),
    });
    const found = await world.book().open();
    expect(world.texts(found).slice(1)).toEqual(names.slice(0, 7).map((name) => `T_${name}`));
    expect(new Set(found.skipped.map(({ kind }) => kind))).toEqual(new Set(['not text']));
    expect(found.skipped).toHaveLength(7);
  });

  it('is quoted as it is when it is no prose', async () => {
    const code = '<!-- kept -->\n// @other.md\n @other.md\n';
    const world = bookWorld({
      'project/CLAUDE.md': '@page.html',
      'project/page.html': code,
      'project/other.md': 'OTHER',
    });
    expect((await world.book().open()).files.map(({ text }) => text)).toEqual(['@page.html', code]);
  });

  it('is found beside a link and beside what the link leads to', async () => {
    const world = bookWorld({
      'outside/dots/mine.md': 'MINE @near.md @own.md',
      'outside/dots/near.md': 'NEAR',
      'home/.claude/CLAUDE.md': { link: '../../outside/dots/mine.md' },
      'home/.claude/own.md': 'OWN',
    });
    expect(world.texts(await world.book().open()).slice(1)).toEqual(['NEAR', 'OWN']);
  });

  it('comes in bounded numbers', async () => {
    const many = Array.from({ length: 600 }, (_, n) => `n${n}.md`);
    const world = bookWorld({
      'project/CLAUDE.md': many.map((name) => `@${name}`).join(' '),
      ...Object.fromEntries(many.map((name) => [`project/${name}`, name])),
    });
    const found = await world.book().open();
    expect(found.files).toHaveLength(501);
    expect(found.skipped).toHaveLength(100);
  });
});

describe('any graph of files', () => {
  const name = fc.integer({ min: 0, max: 9 });
  const graph = fc.array(fc.array(name, { maxLength: 12 }), { minLength: 10, maxLength: 10 });

  it('is walked to its end, each file once, none too deep', async () => {
    await fc.assert(
      fc.asyncProperty(graph, async (edges) => {
        const files = new Map(
          edges.map((to, from) => [
            `/p/${from}.md`,
            `F${from} ${to.map((n) => `@${n}.md`).join(' ')}`,
          ]),
        );
        files.set('/p/CLAUDE.md', 'TOP @0.md @1.md');
        const { files: shown } = await bookOf(files).open();
        const paths = shown.map(({ path: file }) => file);
        expect(new Set(paths).size).toBe(paths.length);
        for (const [index, { parent }] of shown.entries()) {
          if (parent !== undefined) expect(paths.indexOf(parent)).toBeLessThan(index);
        }
      }),
      { numRuns: 100 },
    );
  });
});

function bookOf(files: ReadonlyMap<string, string>) {
  const encoder = new TextEncoder();
  const fs: FileSystem = {
    ...nodeFileSystem,
    stat: async (file) => {
      const text = files.get(file);
      if (text === undefined) return undefined;
      return { kind: 'file', size: text.length, mtimeMs: 0, mode: 0o644 };
    },
    lstat: (file) => fs.stat(file),
    realPath: async (file) => file,
    readBytes: async (file) => encoder.encode(files.get(file)),
  };
  return createInstructionBook({
    fs,
    cwd: '/p',
    home: '/h',
    configDir: '/h/.claude',
    env: {},
    sources: ['user', 'project', 'local'],
    settings: DEFAULT_INSTRUCTION_SETTINGS,
    trusted: false,
    approvals: { answerTo: async () => undefined },
    locateJson: () => ({ ok: false, line: 1, message: '' }),
  });
}
