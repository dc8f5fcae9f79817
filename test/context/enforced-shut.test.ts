import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { enforcedCompiler, openEnforced } from '../../src/context/enforced/compiled.js';
import type { FileSystem } from '../../src/platform/fs/fs.js';
import { nodeFileSystem } from '../../src/platform/fs/node-fs.js';
import { bookWorld } from './book-rig.js';

const BLOCK = 'Words.\n\n```portcullis\n{"deny": ["A"]}\n```\n';

/** A disk that refuses to open a file or to look into a directory: an administrator is let in everywhere. */
function shutting(shut: string, code = 'EACCES'): FileSystem {
  const refuse = (file: string, { inside }: { inside: boolean }): void => {
    const isShut = inside ? path.dirname(file) === shut : file === shut;
    if (isShut) throw Object.assign(new Error(`${code}: no`), { code });
  };
  return new Proxy(nodeFileSystem, {
    get(target, name, receiver) {
      const value: unknown = Reflect.get(target, name, receiver);
      if (typeof value !== 'function') return value;
      const inside = /stat|realPath/i.test(String(name));
      const isNow = String(name).endsWith('Now');
      return (file: string, ...more: unknown[]) => {
        try {
          refuse(file, { inside });
        } catch (thrown) {
          if (isNow) throw thrown;
          return Promise.reject(thrown);
        }
        return value.call(target, file, ...more);
      };
    },
  });
}

describe('an instruction file that the system does not let anybody read', () => {
  it.each([
    ['project/CLAUDE.md', 'project/CLAUDE.md'],
    ['project/CLAUDE.local.md', 'project/CLAUDE.local.md'],
    ['project/.claude/rules/r.md', 'project/.claude/rules/r.md'],
    ['project/.claude/rules/r.md', 'project/.claude/rules'],
    ['project/.claude/CLAUDE.md', 'project/.claude'],
    ['home/.claude/CLAUDE.md', 'home/.claude/CLAUDE.md'],
    ['home/.claude/rules/r.md', 'home/.claude/rules'],
    ['managed/CLAUDE.md', 'managed/CLAUDE.md'],
  ])('stops the start: %s behind %s', async (file, shut) => {
    const world = bookWorld({ [file]: BLOCK });
    const book = world.book({ fs: shutting(path.join(world.root, shut)) });
    const { problems } = await book.enforced();
    expect(problems[0]).toMatchObject({
      severity: 'fatal',
      file: expect.stringContaining(path.join(world.root, shut)),
      message: expect.stringContaining('EACCES'),
    });
    const compile = enforcedCompiler(world.at('.'), world.root);
    const opened = openEnforced({ emit: () => undefined }, { book, compile, problems: [] });
    await expect(opened).rejects.toMatchObject({ code: 'config' });
  });

  it.each(['sub/CLAUDE.md', 'sub/.claude/rules', 'sub/.claude'])(
    'refuses calls in its folder, and no others: %s',
    async (shut) => {
      const world = bookWorld({
        'project/sub/CLAUDE.md': 'Words',
        'project/sub/.claude/rules/r.md': BLOCK,
        'project/sub/x': 'x',
        'project/x': 'x',
      });
      const book = world.book({ fs: shutting(world.at(shut)) });
      const severities = async (name: string) =>
        (await book.enforcedNear([world.at(name)])).problems.map(({ severity }) => severity);
      expect((await book.enforced()).problems).toEqual([]);
      expect(await severities('sub/x')).toContain('fatal');
      expect(await severities('x')).toEqual([]);
      expect((await book.enforcedBelow([world.at('.')])).problems).not.toEqual([]);
    },
  );

  it.each([
    ['that a text only names', 'project/inc.md', 'project/inc.md'],
    ['above the project', 'CLAUDE.md', 'CLAUDE.md'],
    ['in rules above the project', '.claude/rules/r.md', '.claude/rules'],
    ['in a folder that may have none', 'project/sub/CLAUDE.md', 'project/sub'],
    ['that is excluded', 'project/.claude/CLAUDE.md', 'project/.claude/CLAUDE.md'],
  ])('is left out with a note only: %s', async (_which, file, shut) => {
    const world = bookWorld(
      { 'project/AGENTS.md': '@inc.md', 'project/sub/x': 'x', [file]: BLOCK },
      { git: true },
    );
    const excluded = { value: '**/.claude/CLAUDE.md', source: 'user', trusted: true } as const;
    const book = world.book({
      fs: shutting(path.join(world.root, shut)),
      settings: { excludes: [excluded] },
    });
    expect(await book.enforced()).toMatchObject({ deny: [], problems: [] });
    expect((await book.enforcedNear([world.at('sub/x')])).problems).toEqual([]);
  });

  it('is left out with a note when it is no matter of being let in', async () => {
    const world = bookWorld({ 'project/CLAUDE.md': BLOCK });
    const book = world.book({ fs: shutting(world.at('CLAUDE.md'), 'ELOOP') });
    expect((await book.enforced()).problems).toEqual([]);
    expect(world.skipped(await book.open())).toEqual(['project/CLAUDE.md: unreadable']);
  });
});
