import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type EntryStat, KnownTree } from './disk/known-tree.js';
import { type CheckpointStore, openBlobStore, openTracker } from './scan/tracker.js';
import { applyObservations, freshState, withRenames } from './scan/tree-changes.js';

/** More than a call takes arguments, and deeper than a stack is. */
const MANY = 150_000;
const FILE: EntryStat = { kind: 'file', mode: 0o644, size: 0, ino: 7, ctime: 1 };
const DIRECTORY: EntryStat = { ...FILE, kind: 'directory', mode: 0o755 };

describe('a tree of very many files', () => {
  it('is taken out at once', async () => {
    const tree = new KnownTree();
    tree.add('m', DIRECTORY, freshState(DIRECTORY));
    for (let count = 0; count < MANY; count++) tree.add(`m/${count}`, FILE, freshState(FILE));
    const { found } = await applyObservations(tree, [{ path: 'm' }], false);
    expect(found).toHaveLength(MANY + 1);
    expect(found.at(-1)?.path).toBe('m');
    expect(tree.files).toBe(0);
    expect(await withRenames(found)).toHaveLength(MANY + 1);
  });

  it('may be deeper than the stack', async () => {
    const tree = new KnownTree();
    let at = 'd';
    for (let count = 0; count < 4_000; count++) {
      tree.add(at, DIRECTORY, freshState(DIRECTORY));
      at += '/d';
    }
    const { found } = await applyObservations(tree, [{ path: 'd' }], false);
    expect(found).toHaveLength(4_000);
  });
});

describe('a look that fails', () => {
  let work: string;
  let root: string;
  let store: CheckpointStore;

  beforeEach(() => {
    work = realpathSync(mkdtempSync(path.join(os.tmpdir(), 'portcullis-failing-')));
    root = path.join(work, 'project');
    mkdirSync(root);
    store = openBlobStore({ directory: path.join(work, 'store') });
  });

  afterEach(async () => {
    await store.close();
    rmSync(work, { recursive: true, force: true });
  });

  it('loses nothing', async () => {
    const put = (name: string, text: string): void => writeFileSync(path.join(root, name), text);
    for (const name of ['a', 'b', 'c', 'd']) put(name, 'one');
    mkdirSync(path.join(root, 'sub'));
    put('sub/e', 'one');
    const tracker = openTracker({ root, store });
    await tracker.ready;
    await tracker.look();
    const told: string[] = [];
    const add = KnownTree.prototype.add;
    let isFailing = true;
    KnownTree.prototype.add = function (this: KnownTree, ...args: Parameters<typeof add>) {
      if (isFailing && args[0].endsWith('bad')) throw new RangeError('out of something');
      return add.apply(this, args);
    };
    try {
      put('a', 'two');
      put('bad', 'new');
      rmSync(path.join(root, 'b'));
      rmSync(path.join(root, 'sub'), { recursive: true });
      put('z', 'new');
      const failed = await tracker.look();
      expect(failed.gaps.join()).toContain('a look at the tree failed: out of something');
      isFailing = false;
      const next = await tracker.look();
      expect(next.gaps).toEqual([]);
      for (const { path: at } of [...failed.changes, ...next.changes]) told.push(at);
    } finally {
      KnownTree.prototype.add = add;
    }
    expect(told.sort()).toEqual(['a', 'b', 'bad', 'sub', 'sub/e', 'z']);
    expect((await tracker.look()).changes).toEqual([]);
    await tracker.close();
  });
});
