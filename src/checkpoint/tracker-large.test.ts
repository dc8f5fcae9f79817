import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type BlobStore, openBlobStore } from './disk/blob-store.js';
import { openTracker } from './scan/tracker.js';

describe('a look that fails', () => {
  let work: string;
  let root: string;
  let store: BlobStore;

  beforeEach(() => {
    work = realpathSync(mkdtempSync(path.join(os.tmpdir(), 'portcullis-failing-')));
    root = path.join(work, 'project');
    mkdirSync(root);
    store = openBlobStore({ directory: path.join(work, 'store') });
  });

  afterEach(() => {
    rmSync(work, { recursive: true, force: true });
  });

  it('loses nothing', async () => {
    const put = (name: string, text: string): void => writeFileSync(path.join(root, name), text);
    for (const name of ['a', 'b', 'c', 'd']) put(name, 'one');
    mkdirSync(path.join(root, 'sub'));
    put('sub/e', 'one');
    let isFailing = false;
    const whole = store.put.bind(store);
    store.put = (bytes) => {
      if (isFailing && Buffer.from(bytes).equals(Buffer.from('bad'))) {
        throw new RangeError('out of something');
      }
      return whole(bytes);
    };
    const tracker = openTracker({ root, store });
    await tracker.ready;
    await tracker.look();
    put('a', 'two');
    put('bad', 'bad');
    rmSync(path.join(root, 'b'));
    rmSync(path.join(root, 'sub'), { recursive: true });
    put('z', 'new');
    isFailing = true;
    const failed = await tracker.look();
    expect(failed.gaps.join()).toContain('a look at the tree failed: out of something');
    isFailing = false;
    const next = await tracker.look();
    expect(next.gaps).toEqual([]);
    const told = [...failed.changes, ...next.changes].map(({ path: at }) => at);
    expect(told.sort()).toEqual(['a', 'b', 'bad', 'sub', 'sub/e', 'z']);
    expect((await tracker.look()).changes).toEqual([]);
    await tracker.close();
  });
});
