import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { openFileMemory } from '../../src/env/file-memory.js';
import type { FileSystem } from '../../src/env/fs.js';
import { nodeFileSystem } from '../../src/env/node-fs.js';
import { type BookOptions, bookWorld, type Files, never, type World } from './book-rig.js';

const HEAD = '---\npaths: src/**\n---\n';
const RULES = {
  'project/.claude/rules/a/always.md': 'R_ALWAYS',
  'project/.claude/rules/b/waiting.md': `${HEAD}R_WAITING`,
  'project/.claude/rules/other.md': '---\npaths: docs/*.md, lib/\n---\nR_OTHER',
  'project/src/x.ts': '',
};
/** Files have to stand still for a while before anything is believed of them. */
const SETTLED_MS = 2_100;
const settle = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, SETTLED_MS));

interface Start {
  readonly texts: readonly string[];
  readonly waiting: readonly string[];
  /** Directories of rules that were listed. */
  readonly listed: number;
  readonly afterTouch: readonly string[];
}

/** What a new start finds, with nothing in its memory but what earlier ones have written down. */
async function start(world: World, options: BookOptions = {}): Promise<Start> {
  const place = { stateDirectory: path.join(world.root, 'state'), root: world.at('.') };
  const memory = openFileMemory(place);
  let listed = 0;
  const fs: FileSystem = {
    ...nodeFileSystem,
    listNow(directory) {
      if (directory.includes('rules')) listed++;
      return nodeFileSystem.listNow?.(directory) ?? [];
    },
  };
  const book = world.book({ fs, memory, ...options });
  const texts = world.texts(await book.open());
  memory.keep();
  const { waiting } = await book.report();
  const afterTouch = world.texts(await book.touched([world.at('src/x.ts')], never));
  return {
    texts,
    waiting: waiting.map(({ path: file }) => path.basename(file)),
    listed,
    afterTouch,
  };
}

async function sealedWorld(files: Files = RULES): Promise<World> {
  const world = bookWorld(files, { git: true });
  mkdirSync(path.join(world.root, 'state'), { mode: 0o700 });
  await settle();
  await start(world);
  return world;
}

const FOUND = {
  texts: ['R_ALWAYS'],
  waiting: ['waiting.md', 'other.md'],
  afterTouch: ['R_WAITING'],
};

describe('rules of a directory in which nothing has changed', () => {
  it('are known without a list, and wait for the same files', async () => {
    const world = await sealedWorld();
    expect(await start(world)).toEqual({ ...FOUND, listed: 0 });
    expect(await start(world)).toEqual({ ...FOUND, listed: 0 });
  });

  it('are not listed either where none of them waits, and each is read', async () => {
    const name = '.claude/rules/a/always.md';
    const world = await sealedWorld({ [`project/${name}`]: 'R_ALWAYS' });
    expect(await start(world)).toMatchObject({ texts: ['R_ALWAYS'], waiting: [], listed: 0 });
    writeFileSync(world.at(name), 'R_OTHERWISE');
    expect(await start(world)).toMatchObject({ texts: ['R_OTHERWISE'], listed: 0 });
    writeFileSync(world.at('.claude/rules/b.md'), 'R_NEW');
    expect((await start(world)).texts).toEqual(['R_OTHERWISE', 'R_NEW']);
  });

  it('are looked at again when anything has', async () => {
    const world = await sealedWorld();
    const rule = (name: string): string => world.at(`.claude/rules/${name}`);
    writeFileSync(rule('b/waiting.md'), 'R_NOW_ALWAYS');
    expect((await start(world)).texts).toEqual(['R_ALWAYS', 'R_NOW_ALWAYS']);
    writeFileSync(rule('b/waiting.md'), `${HEAD}R_CHANGED`);
    expect(await start(world)).toMatchObject({ ...FOUND, afterTouch: ['R_CHANGED'] });
    mkdirSync(rule('c'));
    writeFileSync(rule('c/new.md'), 'R_NEW');
    expect((await start(world)).texts).toEqual(['R_ALWAYS', 'R_NEW']);
    rmSync(rule('b'), { recursive: true });
    expect(await start(world)).toMatchObject({ waiting: ['other.md'], afterTouch: [] });
  });

  it('are read where they do not wait, and wait when they say so', async () => {
    const world = await sealedWorld();
    writeFileSync(world.at('.claude/rules/a/always.md'), 'R_OTHERWISE');
    expect(await start(world)).toEqual({ ...FOUND, texts: ['R_OTHERWISE'], listed: 0 });
    writeFileSync(world.at('.claude/rules/a/always.md'), `${HEAD}R_WAITS`);
    const found = await start(world);
    expect(found.texts).toEqual([]);
    expect([...found.afterTouch].sort()).toEqual(['R_WAITING', 'R_WAITS']);
  });

  it('are looked at one by one where settings leave some out, or what was noted is damaged', async () => {
    const world = await sealedWorld();
    const excludes = [{ value: '**/waiting.md', source: 'user' as const, trusted: true }];
    const found = await start(world, { settings: { excludes } });
    expect(found).toMatchObject({ waiting: ['other.md'], afterTouch: [] });
    const folder = path.join(world.root, 'state/files');
    const name = readdirSync(folder).find((one) => one.endsWith('.seals.json')) ?? '';
    const text = readFileSync(path.join(folder, name), 'utf8');
    expect(text).toContain('src/**');
    writeFileSync(path.join(folder, name), text.replace('"src/**"', '7'), { mode: 0o600 });
    const again = await start(world);
    expect(again).toMatchObject(FOUND);
    expect(again.listed).toBeGreaterThan(0);
  });
});
