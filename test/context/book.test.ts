import { rmSync, utimesSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import type { FileSystem } from '../../src/platform/fs/fs.js';
import { nodeFileSystem } from '../../src/platform/fs/node-fs.js';
import { bookWorld, type Files, never } from './book-rig.js';

const NESTED = {
  'project/CLAUDE.md': 'N_TOP',
  'project/sub/CLAUDE.md': 'N_SUB\n@inc.md',
  'project/sub/inc.md': 'N_INC',
  'project/sub/CLAUDE.local.md': 'N_LOCAL',
  'project/sub/.claude/CLAUDE.md': 'N_DOT',
  'project/sub/.claude/rules/r.md': 'N_RULE',
  'project/sub/deep/CLAUDE.md': 'N_DEEP',
  'project/sub/deep/f.txt': 'f',
  'project/w/CLAUDE.md': 'N_W',
  'project/agents/AGENTS.md': 'N_AGENTS',
  'project/both/AGENTS.md': 'N_NOT',
  'project/both/CLAUDE.md': 'N_BOTH',
  'project/lower/claude.md': 'N_LOWER',
} satisfies Files;

describe('instructions of folders', () => {
  it('come into play with the use of a file there, outer first, each once', async () => {
    const world = bookWorld(NESTED);
    const book = world.book();
    expect(world.texts(await book.open())).toEqual(['N_TOP']);
    const first = await book.touched([world.at('sub/deep/f.txt')], never);
    expect(world.texts(first).map((text) => text.split('\n')[0])).toEqual(
      'N_SUB N_INC N_DOT N_RULE N_LOCAL N_DEEP'.split(' '),
    );
    expect(first.files.map(({ loadReason }) => loadReason)).toEqual([
      'nested_traversal',
      'include',
      ...Array(4).fill('nested_traversal'),
    ]);
    expect(first.files[0]).toMatchObject({ trigger: world.at('sub/deep/f.txt') });
    expect((await book.touched([world.at('sub/f.txt')], never)).files).toEqual([]);
    expect(world.texts(await book.open())).toEqual(['N_TOP']);
  });

  it('come with new files, AGENTS.md where there is no CLAUDE.md, but not with listing', async () => {
    const world = bookWorld(NESTED);
    const book = world.book();
    const touch = async (name: string) => world.texts(await book.touched([world.at(name)], never));
    expect(await touch('sub')).toEqual([]);
    expect(await touch('w/new/er.txt')).toEqual(['N_W']);
    expect(await touch('agents/x')).toEqual(['N_AGENTS']);
    expect(await touch('both/x')).toEqual(['N_BOTH']);
    expect(await touch('lower/x')).toEqual([]);
  });

  it('are shown once when several calls use them at the same time', async () => {
    const world = bookWorld(NESTED);
    const book = world.book();
    const all = await Promise.all(
      ['w/a', 'w/b', 'w/c'].map((name) => book.touched([world.at(name)], never)),
    );
    expect(all.flatMap(world.texts)).toEqual(['N_W']);
  });

  it('stay out of play outside of the project, in added directories and in other people’s code', async () => {
    const world = bookWorld({
      'outside/CLAUDE.md': 'OUT',
      'outside/d/CLAUDE.md': 'OUT_D',
      'project/node_modules/evil/CLAUDE.md': 'EVIL',
      'project/node_modules/evil/.claude/rules/r.md': 'EVIL',
      'project/link': { link: '../outside' },
    });
    const additionalDirectories = [path.join(world.root, 'outside')];
    const touch = async (files: string[], env = {}) =>
      world.texts(await world.book({ additionalDirectories, env }).touched(files, never));
    const outside = path.join(world.root, 'outside/d/f.txt');
    expect(await touch([outside, world.at('node_modules/evil/x.js')])).toEqual([]);
    const added = { CLAUDE_CODE_ADDITIONAL_DIRECTORIES_CLAUDE_MD: '1' };
    expect(await touch([outside], added)).toEqual(['OUT_D']);
    const book = world.book();
    const found = await book.touched([world.at('link/d/f.txt')], never);
    expect(world.skipped(found)).toEqual([
      'project/link/CLAUDE.md: external',
      'project/link/d/CLAUDE.md: external',
    ]);
    // Said once.
    expect((await book.touched([world.at('link/d/g.txt')], never)).skipped).toEqual([]);
  });

  it('of a sister folder in the same repository come too', async () => {
    const world = bookWorld(
      { 'project/CLAUDE.md': 'ROOT', 'project/a/x': 'x', 'project/b/CLAUDE.md': 'B' },
      { git: true },
    );
    const book = world.book({ cwd: 'a' });
    expect(world.texts(await book.open())).toEqual(['ROOT']);
    expect(world.texts(await book.touched([world.at('b/x')], never))).toEqual(['B']);
  });

  it('come for a path that a tool has resolved', async () => {
    const world = bookWorld({ 'project/sub/CLAUDE.md': 'SUB', alias: { link: 'project' } });
    const book = world.book({ cwd: '../alias' });
    expect(world.texts(await book.touched([world.at('sub/x')], never))).toEqual(['SUB']);
    const again = path.join(world.root, 'alias/sub/x');
    expect(world.texts(await book.touched([again], never))).toEqual([]);
  });

  it('follow the sources, the switch and the excludes', async () => {
    const world = bookWorld(NESTED);
    const touch = async (options: Parameters<typeof world.book>[0]) =>
      world.texts(await world.book(options).touched([world.at('sub/x')], never));
    expect(await touch({ sources: ['local'] })).toEqual(['N_LOCAL']);
    expect(await touch({ sources: [] })).toEqual([]);
    expect(await touch({ env: { CLAUDE_CODE_DISABLE_CLAUDE_MDS: 'true' } })).toEqual([]);
    expect(await touch({ settings: { agentsMode: 'managed-only' } })).toEqual([]);
    const excludes = [{ value: '**/sub/**', source: 'project', trusted: false } as const];
    expect(await touch({ settings: { excludes } })).toEqual([]);
  });

  it('are not looked for once the run is aborted', async () => {
    const world = bookWorld(NESTED);
    const signal = AbortSignal.abort(new Error('stop'));
    await expect(world.book().touched([world.at('sub/x')], signal)).rejects.toThrow('stop');
  });
});

describe('files that change', () => {
  const later = (file: string) => utimesSync(file, new Date(), new Date(Date.now() + 5_000));

  it('are shown again, and only those', async () => {
    const world = bookWorld({
      'project/CLAUDE.md': 'ONE',
      'project/CLAUDE.local.md': 'SAME',
      'project/new.md': 'NEW',
    });
    const book = world.book();
    await book.open();
    expect(await book.changed()).toEqual([]);
    world.write({ 'project/CLAUDE.md': 'TWO @new.md', 'project/CLAUDE.local.md': 'SAME' });
    later(world.at('CLAUDE.md'));
    later(world.at('CLAUDE.local.md'));
    const changed = await book.changed();
    expect(changed.map(({ text, loadReason }) => `${text} ${loadReason}`)).toEqual([
      'TWO @new.md session_start',
      'NEW include',
    ]);
    expect(await book.changed()).toEqual([]);
  });

  it('say when they are gone, and when they are back', async () => {
    const world = bookWorld({ 'project/CLAUDE.md': 'ONE' });
    const book = world.book();
    await book.open();
    rmSync(world.at('CLAUDE.md'));
    expect(await book.changed()).toEqual([
      expect.objectContaining({ text: '', notes: ['it can no longer be read'] }),
    ]);
    expect(await book.changed()).toEqual([]);
    world.write({ 'project/CLAUDE.md': 'ONE' });
    expect(world.texts({ files: await book.changed() })).toEqual(['ONE']);
  });

  it('cannot be turned into a link to somewhere else', async () => {
    const world = bookWorld({ 'project/CLAUDE.md': 'ONE', 'outside/key': 'SECRET' });
    const book = world.book();
    await book.open();
    rmSync(world.at('CLAUDE.md'));
    world.write({ 'project/CLAUDE.md': { link: '../outside/key' } });
    expect(JSON.stringify(await book.changed())).not.toContain('SECRET');
  });
});

describe('after a summary', () => {
  it('what holds from the start is read anew, the rest waits to be used again', async () => {
    const world = bookWorld({
      ...NESTED,
      'project/CLAUDE.md': 'TOP @in.md',
      'project/in.md': 'IN',
      'project/.claude/rules/p.md': '---\npaths: src/**\n---\nPATH',
      'project/.claude/rules/r.md': 'RULE',
    });
    const book = world.book();
    const files = [world.at('w/x'), world.at('src/x')];
    const touch = async () => world.texts(await book.touched(files, never));
    expect(await touch()).toEqual(['N_W', 'PATH']);
    world.write({ 'project/CLAUDE.md': 'TOP2 @in.md' });
    const found = await book.afterCompaction();
    expect(world.texts(found)).toEqual(['TOP2 @in.md', 'IN', 'RULE']);
    expect(new Set(found.files.map(({ loadReason }) => loadReason))).toEqual(new Set(['compact']));
    expect(await touch()).toEqual(['N_W', 'PATH']);
  });
});

describe('an approval', () => {
  it('counts with the next look', async () => {
    const world = bookWorld({ 'project/CLAUDE.md': '@../outside/x.md', 'outside/x.md': 'X' });
    let yes = false;
    const book = world.book({ approvals: { answerTo: async () => (yes ? 'approve' : undefined) } });
    expect((await book.open()).files).toHaveLength(1);
    yes = true;
    expect((await book.open()).files).toHaveLength(1);
    expect(world.texts(await book.reopen())).toEqual(['@../outside/x.md', 'X']);
  });
});

describe('the report', () => {
  it('names every file and why, with its size', async () => {
    const world = bookWorld({
      ...NESTED,
      'project/CLAUDE.md': 'TOP @../outside/x.md @gone.md',
      'project/.claude/rules/p.md': '---\npaths: src/**\n---\nPATH',
      'outside/x.md': 'X',
    });
    const book = world.book();
    await book.touched([world.at('w/x')], never);
    const report = await book.report();
    expect(report.loaded).toEqual([
      expect.objectContaining({
        path: world.at('CLAUDE.md'),
        loadReason: 'session_start',
        bytes: 29,
      }),
      expect.objectContaining({ path: world.at('w/CLAUDE.md'), loadReason: 'nested_traversal' }),
    ]);
    expect(report.loaded[0]?.tokens).toBeGreaterThan(0);
    expect(report.tokens).toBe(report.loaded.reduce((sum, { tokens }) => sum + tokens, 0));
    expect(report.waiting[0]).toEqual({
      path: world.at('.claude/rules/p.md'),
      scope: 'project',
      kind: 'rule',
      globs: ['src/**'],
    });
    const later = report.waiting.slice(1).map(({ path: file, folder }) => [file, folder]);
    expect(later).toEqual([
      [world.at('agents/AGENTS.md'), world.at('agents')],
      [world.at('both/CLAUDE.md'), world.at('both')],
      [world.at('sub/CLAUDE.md'), world.at('sub')],
      [world.at('sub/inc.md'), world.at('sub')],
      [world.at('sub/.claude/CLAUDE.md'), world.at('sub')],
      [world.at('sub/.claude/rules/r.md'), world.at('sub')],
      [world.at('sub/CLAUDE.local.md'), world.at('sub')],
      [world.at('sub/deep/CLAUDE.md'), world.at('sub/deep')],
    ]);
    // Looking at it brings nothing into play.
    expect(world.texts(await book.touched([world.at('agents/x')], never))).toEqual(['N_AGENTS']);
    expect(report.skipped.map(({ kind }) => kind)).toEqual(['external', 'missing']);
    expect(JSON.stringify(report)).not.toContain('TOP');
  });
});

describe('enforced rules', () => {
  const block = (...deny: string[]) =>
    `Text\n\n\`\`\`portcullis\n${JSON.stringify({ deny })}\n\`\`\`\n`;
  const textsOf = (rules: readonly { readonly value: { readonly text: string } }[]) =>
    rules.map(({ value }) => value.text);

  it('hold from the start where they stand in a file of the start', async () => {
    const world = bookWorld({
      'managed/CLAUDE.md': block('M'),
      'home/.claude/CLAUDE.md': block('U'),
      'project/CLAUDE.md': `${block('P')}@more.md`,
      'project/more.md': block('I'),
      'project/.claude/rules/r.md': `---\ndescription: x\n---\n${block('R')}`,
      'project/CLAUDE.local.md': block('L'),
      'project/sub/CLAUDE.md': block('SUB'),
    });
    const { deny, problems } = await world.book().enforced();
    expect(textsOf(deny)).toEqual(['M', 'U', 'P', 'I', 'R', 'L']);
    expect(problems).toEqual([]);
    expect(deny.map(({ source, trusted }) => `${source} ${trusted}`)).toEqual([
      'managed true',
      'user true',
      'project false',
      'project false',
      'project false',
      'local false',
    ]);
    expect(deny[4]).toMatchObject({
      file: world.at('.claude/rules/r.md'),
      line: 7,
      value: { root: world.at('.') },
    });
  });

  it('hold in managed settings, and not in notes of a model', async () => {
    const world = bookWorld({ 'home/notes/MEMORY.md': block('X') });
    const claudeMd = {
      value: block('S'),
      source: 'managed',
      file: '/m.json',
      line: 3,
      trusted: true,
    } as const;
    const book = world.book({ settings: { claudeMd, autoMemoryDirectory: '~/notes' } });
    expect((await book.open()).files).toHaveLength(2);
    expect((await book.enforced()).deny).toEqual([
      expect.objectContaining({
        file: '/m.json',
        line: 3,
        value: expect.objectContaining({ text: 'S' }),
      }),
    ]);
  });

  it('of a folder hold before a call that first touches it is judged', async () => {
    const world = bookWorld({
      'project/sub/CLAUDE.md': block('SUB'),
      'project/sub/deep/.claude/rules/r.md': block('DEEP'),
      'project/.claude/rules/p.md': `---\npaths: src/**\n---\n${block('PATH')}`,
      'project/sub/.claude/rules/p.md': `---\npaths: "*.sql"\n---\n${block('SQL')}`,
    });
    const book = world.book();
    const near = async (...names: string[]) =>
      textsOf((await book.enforcedNear(names.map(world.at))).deny);
    expect(textsOf((await book.enforced()).deny)).toEqual([]);
    expect(await near('x')).toEqual([]);
    expect(await near('sub/x')).toEqual(['SUB']);
    expect(await near('sub/deep/x')).toEqual(['SUB', 'DEEP']);
    expect(await near('sub/a.sql')).toEqual(['SUB', 'SQL']);
    expect(await near('src/x')).toEqual(['PATH']);
    // A directory stands for what is done in it.
    expect(await near('sub')).toEqual(['SUB']);
    // Asking shows nothing, and what was shown or forgotten makes no difference.
    expect(world.texts(await book.touched([world.at('sub/x')], never))).toHaveLength(1);
    await book.afterCompaction();
    expect(await near('sub/x')).toEqual(['SUB']);
  });

  it('are asked anew each time, so that a file written meanwhile counts', async () => {
    const world = bookWorld({ 'project/sub/x': 'x' });
    const book = world.book();
    const near = async () => textsOf((await book.enforcedNear([world.at('sub/x')])).deny);
    expect(await near()).toEqual([]);
    world.write({ 'project/sub/CLAUDE.md': block('NEW') });
    expect(await near()).toEqual(['NEW']);
  });

  it('that cannot be read are a fatal problem with place', async () => {
    const world = bookWorld({ 'project/CLAUDE.md': 'x\n```portcullis\n{"deny": [}\n```' });
    const { problems } = await world.book().enforced();
    expect(problems).toEqual([
      expect.objectContaining({ severity: 'fatal', file: world.at('CLAUDE.md'), line: 3 }),
    ]);
  });
});

describe('a book on trial', () => {
  it('shows everything once, and counts it as shown when it is kept', async () => {
    const world = bookWorld(NESTED);
    const book = world.book();
    const file = [world.at('sub/deep/f.txt')];
    const dropped = world.texts(await book.onTrial().touched(file, never));
    const trial = book.onTrial();
    expect(world.texts(await trial.touched(file, never))).toEqual(dropped);
    expect(world.texts(await trial.touched(file, never))).toEqual([]);
    await trial.keep();
    expect(dropped.length).toBeGreaterThan(0);
    expect(world.texts(await book.touched(file, never))).toEqual([]);
    expect(world.texts(await book.onTrial().touched(file, never))).toEqual([]);
  });
});

describe('the book of another conversation', () => {
  it('was shown what holds from the start, and is shown the rest by itself', async () => {
    const world = bookWorld(NESTED);
    const book = world.book();
    const file = [world.at('sub/deep/f.txt')];
    const first = world.texts(await book.touched(file, never));
    const other = book.forAnother();
    expect(world.texts(await other.touched(file, never))).toEqual(first);
    expect(world.texts(await other.touched(file, never))).toEqual([]);
    expect(world.texts(await book.forAnother().touched(file, never))).toEqual(first);
    expect(world.texts(await book.open())).toEqual(['N_TOP']);
  });

  it('looks once into directories that are known', async () => {
    const world = bookWorld(NESTED);
    const looked: string[] = [];
    const fs: FileSystem = {
      ...nodeFileSystem,
      lstat: (path) => {
        looked.push(path);
        return nodeFileSystem.lstat(path);
      },
    };
    const book = world.book({ fs });
    const known = new Map();
    await book.enforcedNear([world.at('sub/f.txt')], known);
    expect(looked.length).toBeGreaterThan(0);
    looked.length = 0;
    await book.enforcedNear([world.at('sub/g.txt')], known);
    expect(looked.filter((file) => file.endsWith('CLAUDE.md'))).toEqual([]);
    await book.enforcedNear([world.at('sub/f.txt')]);
    expect(looked.length).toBeGreaterThan(0);
  });
});
