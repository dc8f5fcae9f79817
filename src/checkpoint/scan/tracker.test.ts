import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  existsSync,
  linkSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type BlobStore, openBlobStore } from '../disk/blob-store.js';
import type { Look } from '../types.js';
import { openTracker, type TrackerDeps, type TreeTracker } from './tracker.js';

let work: string;
let root: string;
let store: BlobStore;
let open: TreeTracker[];

beforeEach(() => {
  work = realpathSync(mkdtempSync(path.join(os.tmpdir(), 'portcullis-tracker-')));
  root = path.join(work, 'project');
  mkdirSync(root);
  store = openBlobStore({ directory: path.join(work, 'store') });
  open = [];
});

afterEach(async () => {
  for (const tracker of open) await tracker.close();
  execFileSync('chmod', ['-R', 'u+rwx', work]);
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

/** Formats new, removed and changed paths as `+a`, `-a` and `~a`. */
function signs({ changes }: Look): string[] {
  return changes
    .map(({ path: at, before, after }) => {
      if (before === undefined) return `+${at}`;
      return after === undefined ? `-${at}` : `~${at}`;
    })
    .sort();
}

async function text(blob: string | undefined): Promise<string | undefined> {
  const bytes = blob === undefined ? undefined : await store.read(blob);
  return bytes === undefined ? undefined : Buffer.from(bytes).toString();
}

describe('a tracker', () => {
  it('knows a tree and its bytes, and finds nothing where nothing changed', async () => {
    put('a/b.txt', 'one');
    mkdirSync(path.join(root, 'empty'));
    const tracker = await track();
    expect(tracker.state()).toEqual({ kind: 'ready', files: 1, gaps: [] });
    const known = tracker.known('a/b.txt');
    expect(known).toMatchObject({ kind: 'file', size: 3 });
    expect(await text(known?.kind === 'file' ? known.blob : undefined)).toBe('one');
    expect(tracker.known('empty')?.kind).toBe('directory');
    expect((await tracker.look()).changes).toEqual([]);
    expect((await tracker.look()).changes).toEqual([]);
  });

  it('finds what came, went, changed and moved', async () => {
    put('a/change.txt', 'old');
    put('a/go.txt', 'gone');
    put('a/move.txt', 'moved');
    put('d/e/f.txt', 'deep');
    const tracker = await track();
    put('a/change.txt', 'new');
    rmSync(path.join(root, 'a/go.txt'));
    renameSync(path.join(root, 'a/move.txt'), path.join(root, 'moved.txt'));
    rmSync(path.join(root, 'd'), { recursive: true });
    put('n/new.txt', 'fresh');
    mkdirSync(path.join(root, 'void'));
    symlinkSync('/etc/passwd', path.join(root, 'link'));
    const look = await tracker.look();
    expect(signs(look)).toEqual(
      ['+link', '+moved.txt', '+n', '+n/new.txt', '+void', '-a/go.txt', '-a/move.txt'].concat([
        '-d',
        '-d/e',
        '-d/e/f.txt',
        '~a/change.txt',
      ]),
    );
    const changed = look.changes.find((change) => change.path === 'a/change.txt');
    expect(await text(changed?.before?.kind === 'file' ? changed.before.blob : undefined)).toBe(
      'old',
    );
    expect(await text(changed?.after?.kind === 'file' ? changed.after.blob : undefined)).toBe(
      'new',
    );
    expect(look.changes.find((change) => change.path === 'link')?.after).toEqual({
      kind: 'link',
      target: '/etc/passwd',
    });
    expect((await tracker.look()).changes).toEqual([]);
  });

  it('sees a change that kept size and modification time', async () => {
    put('a.txt', 'one');
    const { atime, mtime } = statSync(path.join(root, 'a.txt'));
    const tracker = await track();
    put('a.txt', 'two');
    utimesSync(path.join(root, 'a.txt'), atime, mtime);
    expect(signs(await tracker.look())).toEqual(['~a.txt']);
  });

  it('sees every one of many quick changes of the same length', async () => {
    put('a.txt', '00');
    const tracker = await track();
    for (let count = 10; count < 40; count++) {
      put('a.txt', String(count));
      expect(signs(await tracker.look())).toEqual(['~a.txt']);
    }
  });

  it('does not tell of what was only touched', async () => {
    put('a.txt', 'one');
    const tracker = await track();
    utimesSync(path.join(root, 'a.txt'), 1, 1);
    linkSync(path.join(root, 'a.txt'), path.join(root, 'b.txt'));
    expect(signs(await tracker.look())).toEqual(['+b.txt']);
    put('b.txt', 'two');
    expect(signs(await tracker.look())).toEqual(['~a.txt', '~b.txt']);
  });

  it('tells of modes, and of one kind that takes the place of another', async () => {
    put('a.sh', 'run');
    put('b/c', 'in');
    const tracker = await track();
    chmodSync(path.join(root, 'a.sh'), 0o755);
    rmSync(path.join(root, 'b'), { recursive: true });
    put('b', 'file');
    const look = await tracker.look();
    expect(signs(look)).toEqual(['-b/c', '~a.sh', '~b']);
    const mode = look.changes.find((change) => change.path === 'a.sh');
    expect(mode?.after).toMatchObject({ mode: 0o755 });
    rmSync(path.join(root, 'b'));
    put('b/c', 'in again');
    expect(signs(await tracker.look())).toEqual(['+b/c', '~b']);
  });

  it('passes over git, dependencies and what ignore files leave out', async () => {
    put('.gitignore', 'dist/\n*.log\n!keep.log\n');
    put('sub/.gitignore', '/only-here\n');
    put('.git/config', 'x');
    put('nested/.git/HEAD', 'x');
    put('nested/code.ts', 'x');
    put('node_modules/m/index.js', 'x');
    const tracker = await track();
    for (const name of [
      'dist/a',
      'x.log',
      'keep.log',
      'sub/only-here',
      'only-here',
      '.git/index',
    ]) {
      put(name, 'new');
    }
    put('nested/.git/index', 'x');
    put('nested/code.ts', 'y');
    put('node_modules/m/other.js', 'x');
    expect(signs(await tracker.look())).toEqual(['+keep.log', '+only-here', '~nested/code.ts']);
  });

  it('does not take what an ignore rule uncovers for something new', async () => {
    put('.gitignore', 'dist/\n');
    put('dist/old.js', 'there before');
    const tracker = await track();
    await new Promise((resolve) => setTimeout(resolve, 30));
    await tracker.look();
    await new Promise((resolve) => setTimeout(resolve, 30));
    put('.gitignore', '\n');
    put('dist/new.js', 'made now');
    const look = await tracker.look();
    expect(signs(look)).toEqual(['+dist/new.js', '~.gitignore']);
    expect(look.gaps.join()).toContain('"dist"');
    rmSync(path.join(root, 'dist/old.js'));
    expect(signs(await tracker.look())).toEqual(['-dist/old.js']);
  });

  it('goes on with what it tracks when a rule comes to leave it out', async () => {
    put('dist/a.js', 'one');
    const tracker = await track();
    put('.gitignore', 'dist/\n');
    put('dist/a.js', 'two');
    expect(signs(await tracker.look())).toEqual(['+.gitignore', '~dist/a.js']);
    put('dist/a.js', 'three');
    expect(signs(await tracker.look())).toEqual(['~dist/a.js']);
  });

  it('follows a path that is passed over once somebody is about to write it', async () => {
    put('.gitignore', 'dist/\n.env\n');
    put('.env', 'SECRET=1');
    const tracker = await track();
    expect(await tracker.keep('.env')).toMatchObject({ kind: 'file', size: 8 });
    expect(await tracker.keep(path.join(root, 'dist/sub/out.js'))).toBeUndefined();
    expect(await tracker.keep('.git/config')).toBeUndefined();
    expect(await tracker.keep('../elsewhere')).toBeUndefined();
    put('.env', 'SECRET=2');
    put('dist/sub/out.js', 'x');
    expect(signs(await tracker.look())).toEqual([
      '+dist',
      '+dist/sub',
      '+dist/sub/out.js',
      '~.env',
    ]);
    rmSync(path.join(root, 'dist'), { recursive: true });
    expect(signs(await tracker.look())).toEqual(['-dist', '-dist/sub', '-dist/sub/out.js']);
  });

  it('tells apart what changed before a path was kept and after it', async () => {
    put('a.txt', 'one');
    const tracker = await track();
    put('a.txt', 'of the person');
    put('new/deep.txt', 'of the person');
    await tracker.keep('a.txt');
    await tracker.keep('new/deep.txt');
    put('a.txt', 'of the tool');
    put('new/deep.txt', 'of the tool');
    const { changes } = await tracker.look();
    const steps = await Promise.all(
      changes
        .filter((change) => change.path === 'a.txt')
        .map(({ after }) => text(after?.kind === 'file' ? after.blob : undefined)),
    );
    expect(steps).toEqual(['of the person', 'of the tool']);
    expect(changes.map((change) => change.path).sort()).toEqual(
      ['a.txt', 'a.txt', 'new', 'new/deep.txt', 'new/deep.txt'].sort(),
    );
  });

  it('copes with odd names', async () => {
    const names = ['-rf', 'x\ny', 'a b', '*', '[x]', "it's", '\\back', 'ümlaut', ' ', '~'];
    for (const name of names) put(`${name}/in`, 'one');
    const bad = Buffer.concat([Buffer.from(`${root}/`), Buffer.from([0x66, 0xff, 0xfe])]);
    writeFileSync(bad, 'not text');
    const tracker = await track();
    expect(tracker.state()).toMatchObject({ kind: 'partial', files: names.length });
    expect(tracker.state().gaps.join()).toContain('no text');
    for (const name of names) put(`${name}/in`, 'two');
    expect(signs(await tracker.look())).toEqual(names.map((name) => `~${name}/in`).sort());
  });

  it('names pipes and sockets, and opens neither', async () => {
    execFileSync('mkfifo', [path.join(root, 'pipe')]);
    const tracker = await track();
    expect(tracker.known('pipe')).toEqual({ kind: 'special' });
    rmSync(path.join(root, 'pipe'));
    put('pipe', 'now a file');
    expect(signs(await tracker.look())).toEqual(['~pipe']);
  });

  it('does not take a directory that cannot be read for an empty one', async () => {
    if (process.getuid?.() === 0) return;
    put('d/a.txt', 'one');
    put('closed.txt', 'one');
    chmodSync(path.join(root, 'closed.txt'), 0);
    const tracker = await track();
    expect(tracker.known('closed.txt')).toMatchObject({ unstored: 'unreadable' });
    chmodSync(path.join(root, 'd'), 0);
    const look = await tracker.look();
    expect(signs(look)).toEqual(['~d']);
    expect(look.gaps.join()).toContain('"d": cannot be read');
    chmodSync(path.join(root, 'd'), 0o755);
    put('d/a.txt', 'two');
    expect(signs(await tracker.look())).toEqual(['~d', '~d/a.txt']);
  });

  it('follows no link, also not one that its root is reached by', async () => {
    put('a.txt', 'one');
    mkdirSync(path.join(work, 'outside'));
    writeFileSync(path.join(work, 'outside/secret'), 'x');
    symlinkSync(path.join(work, 'outside'), path.join(root, 'out'));
    symlinkSync(root, path.join(work, 'way'));
    const tracker = await track({ root: path.join(work, 'way') });
    expect(tracker.root).toBe(root);
    expect(tracker.known('out')?.kind).toBe('link');
    expect(tracker.known('out/secret')).toBeUndefined();
    expect(await tracker.keep('out/secret')).toBeUndefined();
    expect(await tracker.keep(path.join(work, 'way/a.txt'))).toMatchObject({ kind: 'file' });
  });

  it('names what is too long to keep, and is off where there is too much', async () => {
    put('long', 'x'.repeat(5000));
    put('b', 'x');
    const tracker = await track({ maxFileBytes: 1000 });
    expect(tracker.known('long')).toMatchObject({ unstored: 'too-large' });
    expect(tracker.state().kind).toBe('partial');
    const off = await track({ maxFiles: 1 });
    expect(off.state()).toMatchObject({ kind: 'off', gaps: ['there are more than 1 files'] });
    expect((await off.look()).changes).toEqual([]);
  });

  it('leaves its own store out when that lies in the tree', async () => {
    const own = path.join(root, '.state');
    const inside = openBlobStore({ directory: path.join(own, 'store') });
    put('a.txt', 'one');
    const tracker = openTracker({ root, store: inside, exclude: [own] });
    await tracker.ready;
    put('a.txt', 'two');
    expect(signs(await tracker.look())).toEqual(['~a.txt']);
    await tracker.close();
  });

  it('reads again only what has changed since an earlier session', async () => {
    const indexFile = path.join(work, 'store/tree.index');
    for (let count = 0; count < 20; count++) put(`f${count}`, `text ${count}`);
    await new Promise((resolve) => setTimeout(resolve, 30));
    const first = await track({ indexFile });
    await first.close();
    expect(existsSync(indexFile)).toBe(true);
    const size = await store.size();
    put('f3', 'other');
    const counted = { puts: 0 };
    const counting: BlobStore = {
      has: (id) => store.has(id),
      put: (bytes) => {
        counted.puts++;
        return store.put(bytes);
      },
      read: (id) => store.read(id),
      sync: (ids) => store.sync(ids),
      size: () => store.size(),
      prune: (needed) => store.prune(needed),
    };
    const second = await track({ indexFile, store: counting });
    expect(second.state().kind).toBe('ready');
    // A second read happens when the first came so soon that a later change could go unnoticed.
    expect(counted.puts).toBeLessThanOrEqual(2);
    expect(await store.size()).toBeLessThan(size + 200);
  });
});

describe('contents behind a look', () => {
  it('are completed in the states that were handed out', async () => {
    const tracker = await track();
    for (let count = 0; count < 6; count++) put(`big-${count}`, Buffer.alloc(5_000_000, count));
    const { changes } = await tracker.look();
    expect(changes).toHaveLength(6);
    for (const { after } of changes) {
      expect(after?.kind === 'file' ? after.blob : undefined).toMatch(/^[0-9a-f]{64}$/);
    }
  });

  it('are private to the user', async () => {
    put('.env', 'SECRET');
    await track();
    const objects = path.join(work, 'store/objects');
    const entries = readdirSync(objects, { recursive: true, withFileTypes: true });
    expect(entries.filter((entry) => entry.isFile())).not.toEqual([]);
    expect(statSync(objects).mode & 0o777).toBe(0o700);
    for (const entry of entries) {
      const { mode } = statSync(path.join(entry.parentPath, entry.name));
      expect(mode & 0o777).toBe(entry.isFile() ? 0o600 : 0o700);
    }
  });
});
