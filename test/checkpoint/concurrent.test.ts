import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Checkpoints } from '../../src/checkpoint/checkpoints.js';
import { openBlobStore } from '../../src/checkpoint/disk/blob-store.js';
import { type CheckpointDeps, openCheckpoints } from '../../src/checkpoint/open.js';
import { openTracker, type TrackerDeps } from '../../src/checkpoint/scan/tracker.js';
import type { Author, OpenWindow } from '../../src/checkpoint/types.js';
import { systemClock } from '../../src/platform/clock.js';

/** What others do to a workspace beside the journal of a session. */
let home: string;
let root: string;
const opened: Checkpoints[] = [];

beforeEach(() => {
  home = fs.realpathSync(fs.mkdtempSync(path.join(os.tmpdir(), 'checkpoints-beside-')));
  root = path.join(home, 'tree');
  fs.mkdirSync(root);
});
afterEach(async () => {
  for (const each of opened.splice(0)) await each.close();
  fs.rmSync(home, { recursive: true, force: true });
});

interface Options {
  readonly deps?: Partial<CheckpointDeps>;
  readonly tracker?: Partial<TrackerDeps>;
  /** Called before contents are read for a rewind, with how often that has happened. */
  readonly onRead?: (time: number) => void;
}

async function open({ deps, tracker, onRead }: Options = {}): Promise<Checkpoints> {
  const directory = path.join(home, 'state');
  const store = openBlobStore({ directory });
  let times = 0;
  const watched = Object.assign(Object.create(store), {
    read(id: string) {
      onRead?.(++times);
      return store.read(id);
    },
    has: (id: string) => store.has(id),
    put: (bytes: Uint8Array) => store.put(bytes),
    sync: (ids: Iterable<string>) => store.sync(ids),
    size: () => store.size(),
    prune: (needed: () => Promise<Iterable<string>>) => store.prune(needed),
  }) as typeof store;
  const checkpoints = await openCheckpoints({
    root,
    directory,
    sessionId: 'one',
    store: watched,
    openTracker: () => openTracker({ root, store, ...tracker }),
    waitMs: 20_000,
    smallLookMs: Number.POSITIVE_INFINITY,
    ...deps,
  });
  opened.push(checkpoints);
  return checkpoints;
}

const by = (toolUseId: string): Author => ({
  kind: 'call',
  toolUseId,
  tool: 'Bash',
  agent: { id: 'main', type: 'main', path: 'main' },
});
const at = (name: string): string => path.join(root, name);
const write = (name: string, text: string): void => fs.writeFileSync(at(name), text);
const read = (name: string): string => fs.readFileSync(at(name), 'utf8');
const BACK = { kind: 'message', messageId: 'm1' } as const;

async function call(checkpoints: Checkpoints, id: string, work: () => void): Promise<void> {
  const window = await checkpoints.begin(by(id));
  work();
  await ended(window);
}

async function ended(window: OpenWindow): Promise<void> {
  window.end();
  await window.changes;
}

describe('a job in the background', () => {
  it.each([
    [11_000, ['call', 'user']],
    [5_000, ['call']],
  ])('that has run for %i ms', async (age, authors) => {
    let shift = age;
    const clock = { ...systemClock, now: () => systemClock.now() - shift };
    write('mine', 'before\n');
    const checkpoints = await open({ deps: { clock } });
    checkpoints.mark('m1', 'x');
    const job = await checkpoints.begin(by('job'));
    job.moveToBackground();
    shift = 0;
    checkpoints.mark('m2', 'x');
    // The look behind the mark is asked for a moment after it; what is written before may count for m1.
    await new Promise((resolve) => setTimeout(resolve, 1));
    await checkpoints.changes();
    write('mine', 'mine\n');
    await call(checkpoints, 'c1', () => write('agents', 'a\n'));
    const changes = await checkpoints.changes();
    const kindsOf = (name: string): string[] | undefined =>
      changes.find((change) => change.path === name)?.authors.map(({ kind }) => kind);
    expect(kindsOf('mine')).toEqual(authors);
    expect(kindsOf('agents')).toEqual(['call', 'call']);

    const back = { kind: 'message', messageId: 'm2' } as const;
    const isKept = authors.includes('user');
    expect(await checkpoints.rewind(back)).toMatchObject({
      kind: 'done',
      plan: { conflicts: isKept ? [{ path: 'mine' }] : [] },
    });
    expect(read('mine')).toBe(isKept ? 'mine\n' : 'before\n');
    expect(fs.existsSync(at('agents'))).toBe(false);
    await checkpoints.rewind(back, { overwriteConflicts: true });
    expect(read('mine')).toBe('before\n');
    job.end();
  });
});

describe('somebody who works while a rewind runs', () => {
  it('loses no save to it', async () => {
    let isRewinding = false;
    let reads = 0;
    const checkpoints = await open({
      onRead() {
        // The first look at the contents is whether they are there, the second is for writing them.
        if (isRewinding && ++reads === 2) write('f', 'saved meanwhile\n');
      },
    });
    write('f', 'before\n');
    checkpoints.mark('m1', 'x');
    await call(checkpoints, 'c1', () => write('f', 'agent\n'));
    isRewinding = true;
    const result = await checkpoints.rewind(BACK);
    isRewinding = false;
    expect(result).toMatchObject({
      kind: 'done',
      failed: [{ path: 'f', why: 'changed while it was being restored' }],
    });
    expect(read('f')).toBe('saved meanwhile\n');
    expect(fs.readdirSync(root)).toEqual(['f']);
    expect(await checkpoints.rewind(BACK)).toMatchObject({ plan: { conflicts: [{ path: 'f' }] } });
  });

  it('makes no look that takes half of it for their own work', async () => {
    let onRead = (): void => {};
    const names = Array.from({ length: 80 }, (_, index) => `f${index}`);
    for (const name of names) write(name, 'before\n');
    const checkpoints = await open({ onRead: () => onRead() });
    checkpoints.mark('m1', 'x');
    await call(checkpoints, 'c1', () => {
      for (const name of names) write(name, `${name} of an agent\n`);
    });
    let reads = 0;
    onRead = () => {
      if (++reads % 30 === 0) checkpoints.mark(`m${reads}`, 'y');
    };
    expect(await checkpoints.rewind(BACK)).toMatchObject({ kind: 'done', failed: [] });
    onRead = () => {};
    const kinds = (await checkpoints.changes()).map(({ authors }) => authors[0]?.kind);
    expect(kinds.filter((kind) => kind === 'rewind')).toHaveLength(names.length);
    expect(kinds).not.toContain('user');
    expect(await checkpoints.redo()).toMatchObject({ failed: [], plan: { conflicts: [] } });
    expect(names.map(read)).toEqual(names.map((name) => `${name} of an agent\n`));
  });

  it('has their turn while many files are deleted and written', async () => {
    const checkpoints = await open();
    checkpoints.mark('m1', 'x');
    await call(checkpoints, 'c1', () => {
      for (let index = 0; index < 500; index++) write(`f${index}`, `${index}\n`);
    });
    for (const work of [() => checkpoints.rewind(BACK), () => checkpoints.redo()]) {
      let turns = 0;
      const timer = setInterval(() => turns++, 1);
      expect(await work()).toMatchObject({ kind: 'done', failed: [] });
      clearInterval(timer);
      expect(turns).toBeGreaterThan(3);
    }
  });
});

describe('a workspace', () => {
  it('is not rewound when another one stands in its place', async () => {
    write('f', 'before\n');
    const checkpoints = await open();
    checkpoints.mark('m1', 'x');
    await call(checkpoints, 'c1', () => write('f', 'agent\n'));
    fs.renameSync(root, path.join(home, 'moved'));
    fs.mkdirSync(root);
    write('f', 'agent\n');
    const why = 'the workspace directory was replaced by another one since it was opened';
    expect(await checkpoints.preview(BACK)).toEqual({ why });
    expect(await checkpoints.rewind(BACK)).toEqual({ kind: 'refused', why });
    expect(await checkpoints.redo()).toEqual({ kind: 'refused', why });
    expect(read('f')).toBe('agent\n');
  });

  it('keeps the mode of what has another name outside of it', async () => {
    const secret = path.join(home, 'secret');
    fs.writeFileSync(secret, 'same\n', { mode: 0o600 });
    write('f', 'same\n');
    fs.chmodSync(at('f'), 0o777);
    const checkpoints = await open();
    checkpoints.mark('m1', 'x');
    await call(checkpoints, 'c1', () => {
      fs.rmSync(at('f'));
      fs.linkSync(secret, at('f'));
    });
    expect(await checkpoints.rewind(BACK)).toMatchObject({ kind: 'done', failed: [] });
    expect(fs.statSync(at('f')).mode & 0o777).toBe(0o777);
    expect(fs.statSync(secret).mode & 0o777).toBe(0o600);
  });

  it('has files with two names put back', async () => {
    write('a', 'before\n');
    fs.linkSync(at('a'), at('b'));
    const checkpoints = await open();
    checkpoints.mark('m1', 'x');
    await call(checkpoints, 'c1', () => write('a', 'agent\n'));
    expect(await checkpoints.rewind(BACK)).toMatchObject({ kind: 'done', failed: [] });
    expect([read('a'), read('b')]).toEqual(['before\n', 'before\n']);
  });
});

describe('a point', () => {
  it('says that a file has become too large to be kept', async () => {
    const checkpoints = await open({ tracker: { maxFileBytes: 100 } });
    checkpoints.mark('m1', 'x');
    await call(checkpoints, 'c1', () => write('big', 'x'.repeat(200)));
    checkpoints.mark('m2', 'x');
    const why = 'the bytes of "big" are not kept: it is too large to be kept';
    expect(checkpoints.points().at(-1)).toMatchObject({ complete: false, gaps: [why] });
    await call(checkpoints, 'c2', () => fs.rmSync(at('big')));
    checkpoints.mark('m3', 'x');
    expect(checkpoints.points().at(-1)).toMatchObject({ complete: true, gaps: [] });
  });

  it('says that the store is full', async () => {
    const directory = path.join(home, 'state');
    const store = openBlobStore({ directory, maxBytes: 2_000 });
    const checkpoints = await open({ deps: { store }, tracker: { store } });
    checkpoints.mark('m1', 'x');
    const noise = Array.from({ length: 5_000 }, (_, index) => Math.sin(index)).join();
    await call(checkpoints, 'c1', () => write('f', noise));
    checkpoints.mark('m2', 'x');
    expect(checkpoints.points().at(-1)).toMatchObject({
      complete: false,
      gaps: ['the bytes of "f" are not kept: the store of checkpoints was full'],
    });
  });

  it('says where nobody looks before a call', async () => {
    const checkpoints = await open({ deps: { smallLookMs: 0 } });
    await expect.poll(() => checkpoints.state().kind).toBe('ready');
    checkpoints.mark('m1', 'x');
    // The look that a mark asks for would be the one before the call.
    await new Promise((resolve) => setImmediate(resolve));
    await checkpoints.changes();
    await call(checkpoints, 'c1', () => write('f', 'x'));
    expect(checkpoints.points()[0]).toMatchObject({
      complete: false,
      gaps: [expect.stringContaining('edits of yours between two calls of one turn may count')],
    });
  });

  it('tells of what is written into git’s own files', async () => {
    fs.mkdirSync(at('.git/hooks'), { recursive: true });
    const checkpoints = await open();
    checkpoints.mark('m1', 'x');
    const window = await checkpoints.begin(by('c1'), [at('.git/hooks/pre-commit')]);
    write('.git/hooks/pre-commit', '#!/bin/sh\n');
    await ended(window);
    expect(await checkpoints.preview(BACK)).toMatchObject({
      impossible: [{ what: '.git/hooks/pre-commit', why: "git's own files are not journalled" }],
    });
  });
});
