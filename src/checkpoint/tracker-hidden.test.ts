import {
  chmodSync,
  mkdirSync,
  mkdtempSync,
  realpathSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type BlobStore, openBlobStore } from './disk/blob-store.js';
import { openTracker, type TrackerDeps, type TreeTracker } from './scan/tracker.js';
import type { Look } from './types.js';

/** No write during a window may escape the scan after it. */
let work: string;
let root: string;
let store: BlobStore;
let open: TreeTracker[];

beforeEach(() => {
  work = realpathSync(mkdtempSync(path.join(os.tmpdir(), 'portcullis-hidden-')));
  root = path.join(work, 'project');
  mkdirSync(root);
  store = openBlobStore({ directory: path.join(work, 'store') });
  open = [];
});

afterEach(async () => {
  for (const tracker of open) await tracker.close();
  rmSync(work, { recursive: true, force: true });
});

async function track(options: Partial<TrackerDeps> = {}): Promise<TreeTracker> {
  const tracker = openTracker({ root, store, ...options });
  open.push(tracker);
  await tracker.ready;
  return tracker;
}

function put(name: string, text: string | Uint8Array): void {
  const file = path.join(root, name);
  mkdirSync(path.dirname(file), { recursive: true });
  writeFileSync(file, text);
}

function signs({ changes }: Look): string[] {
  return changes
    .map(({ path: at, before, after }) => {
      if (before === undefined) return `+${at}`;
      return after === undefined ? `-${at}` : `~${at}`;
    })
    .sort();
}

const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

describe('a look', () => {
  it('finds a directory whose name many others have that are left out', async () => {
    put('.gitignore', '/p*/foo/\n');
    for (let count = 0; count < 130; count++) put(`p${count}/foo/x`, 'x');
    put('src/a', 'x');
    const tracker = await track();
    await tracker.look();
    put('src/foo/a', 'one');
    put('src/foo/b', 'one');
    expect(signs(await tracker.look())).toEqual(['+src/foo', '+src/foo/a', '+src/foo/b']);
    expect(signs(await tracker.look())).toEqual([]);
    put('src/foo/a', 'two');
    rmSync(path.join(root, 'src/foo/b'));
    put('src/foo/c', 'new');
    expect(signs(await tracker.look())).toEqual(['+src/foo/c', '-src/foo/b', '~src/foo/a']);
    // A directory replaces a file of the same name, first by creation and then by renaming.
    put('src/d/foo', 'file');
    put('src/e/g/in', 'x');
    await tracker.look();
    rmSync(path.join(root, 'src/d/foo'));
    put('src/d/foo/in', 'x');
    renameSync(path.join(root, 'src/e/g'), path.join(root, 'src/e/foo'));
    expect(signs(await tracker.look())).toEqual([
      '+src/d/foo/in',
      '+src/e/foo',
      '+src/e/foo/in',
      '-src/e/g',
      '-src/e/g/in',
      '~src/d/foo',
    ]);
    expect(signs(await tracker.look())).toEqual([]);
    rmSync(path.join(root, 'src/foo'), { recursive: true });
    expect(signs(await tracker.look())).toEqual(['-src/foo', '-src/foo/a', '-src/foo/c']);
  });

  it('shows what came together with the rule that leaves it out', async () => {
    put('.gitignore', '*.log\n');
    put('sub/a', 'x');
    const tracker = await track();
    await pause(30);
    await tracker.look();
    put('.gitignore', '*.log\nevil*\n');
    put('sub/evil.sh', 'x');
    put('evildir/in', 'x');
    put('sub/b.log', 'x');
    // An ignore file that arrives with its directory.
    put('fresh/.gitignore', '*\n');
    put('fresh/deep/hidden', 'x');
    const look = await tracker.look();
    expect(signs(look)).toEqual(
      ['+evildir', '+evildir/in', '+fresh', '+fresh/.gitignore', '+fresh/deep'].concat([
        '+fresh/deep/hidden',
        '+sub/evil.sh',
        '~.gitignore',
      ]),
    );
    expect(look.gaps).toEqual([]);
    // Tracked files stay tracked; new ones are ignored.
    put('sub/evil.sh', 'two');
    put('sub/evil2.sh', 'x');
    put('fresh/deep/hidden', 'two');
    expect(signs(await tracker.look())).toEqual(['~fresh/deep/hidden', '~sub/evil.sh']);
  });

  it('tells of what was moved in while rules changed', async () => {
    put('.gitignore', 'dist/\n');
    put('a', 'x');
    writeFileSync(path.join(work, 'older'), 'made before');
    const tracker = await track();
    await pause(30);
    await tracker.look();
    await pause(30);
    put('.gitignore', 'dist/\n# changed\n');
    renameSync(path.join(work, 'older'), path.join(root, 'moved'));
    expect(signs(await tracker.look())).toEqual(['+moved', '~.gitignore']);
  });

  it("names git's own list of what is left out when it changes", async () => {
    mkdirSync(path.join(root, '.git/info'), { recursive: true });
    put('a', 'x');
    const tracker = await track();
    expect((await tracker.look()).gaps).toEqual([]);
    put('.git/info/exclude', 'evil*\n');
    put('evil.sh', 'x');
    const look = await tracker.look();
    expect(signs(look)).toEqual(['+evil.sh']);
    expect(look.gaps.join()).toContain('".git/info/exclude": has changed');
    put('evil.sh', 'two');
    const next = await tracker.look();
    expect(signs(next)).toEqual(['~evil.sh']);
    expect(next.gaps).toEqual([]);
  });

  it('says once that the root itself has another mode, and where our own files are', async () => {
    put('own/state', 'x');
    put('a', 'x');
    const tracker = await track({ exclude: [path.join(root, 'own')] });
    expect((await tracker.look()).gaps.join()).toContain('"own": holds our own files');
    chmodSync(root, 0o700);
    put('a', 'y');
    const look = await tracker.look();
    expect(signs(look)).toEqual(['~a']);
    expect(look.gaps.join()).toMatch(/mode of the directory itself changed from 7\d\d to 700/);
    expect((await tracker.look()).gaps).toEqual([]);
  });

  it('does not tell again and again of a file that the store has no room for', async () => {
    const full = openBlobStore({ directory: path.join(work, 'full'), maxBytes: 10_000 });
    put('a', 'x');
    const tracker = await track({ store: full });
    for (const letter of ['a', 'b', 'c']) {
      put('big', Buffer.alloc(30_000, letter));
      const look = await tracker.look();
      expect(signs(look)).toEqual([letter === 'a' ? '+big' : '~big']);
      expect(look.changes[0]?.after).toMatchObject({ unstored: 'over-cap' });
      expect(look.changes[0]?.after).not.toHaveProperty('blob');
      for (let count = 0; count < 3; count++) expect(signs(await tracker.look())).toEqual([]);
    }
    await tracker.close();
  });

  it('does not tell again and again of a file that grew too long just after it was read', async () => {
    put('big', 'x');
    const tracker = await track({ maxFileBytes: 1_000 });
    put('big', 'y');
    await tracker.look();
    put('big', 'x'.repeat(2_000));
    expect(signs(await tracker.look())).toEqual(['~big']);
    for (let count = 0; count < 3; count++) expect(signs(await tracker.look())).toEqual([]);
  });
});
