import {
  appendFileSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { PackStore } from './blob-store.js';
import { sha256 } from './hash.js';
import { randomBytes } from './random.js';

let directory: string;
let stores: PackStore[];

beforeEach(() => {
  directory = mkdtempSync(path.join(os.tmpdir(), 'portcullis-blobs-'));
  stores = [];
});

afterEach(async () => {
  for (const store of stores) await store.close();
  rmSync(directory, { recursive: true, force: true });
});

function open(maxBytes = 1e9): PackStore {
  const store = new PackStore({ directory, maxBytes });
  stores.push(store);
  return store;
}

function packs(): string[] {
  return readdirSync(path.join(directory, 'packs')).map((name) =>
    path.join(directory, 'packs', name),
  );
}

const some = (bytes: number): Uint8Array => Uint8Array.from(randomBytes(bytes));
const idOf = async (stored: Promise<string | undefined>): Promise<string> => (await stored) ?? '';

describe('a store of contents', () => {
  it('gives back what was put, by its hash, also to the next process', async () => {
    const store = open();
    const contents = [new Uint8Array(), Buffer.from('one'), some(70_000), some(3_000_000)];
    const ids = await Promise.all(contents.map((bytes) => store.put(bytes)));
    expect(ids).toEqual(contents.map((bytes) => sha256(bytes)));
    await store.close();
    const later = open();
    for (const [at, id] of ids.entries()) {
      expect(await later.has(id ?? '')).toBe(true);
      expect(sha256((await later.read(id ?? '')) ?? 'none')).toBe(ids[at]);
    }
    expect(await later.has('0'.repeat(64))).toBe(false);
    expect(await later.read('../../etc/passwd')).toBeUndefined();
  });

  it('can read what is still on its way', async () => {
    const store = open();
    const { id, stored } = store.offer(Buffer.from('quick'));
    expect(Buffer.from((await store.read(id)) ?? []).toString()).toBe('quick');
    expect(await stored).toBe(true);
  });

  it('keeps the same bytes once, and the same pieces of long files once', async () => {
    const store = open();
    const bytes = some(1_000_000);
    await store.put(bytes);
    const before = await store.size();
    expect(before).toBeGreaterThan(1_000_000);
    await store.put(Uint8Array.from(bytes));
    expect(await store.size()).toBe(before);
    const edited = Buffer.concat([bytes.subarray(0, 500_000), some(50), bytes.subarray(500_000)]);
    await store.put(edited);
    expect((await store.size()) - before).toBeLessThan(150_000);
  });

  it('is shared by processes that write at once', async () => {
    const one = open();
    const other = open();
    await Promise.all([one.has(''), other.has('')]);
    const first = await idOf(one.put(Buffer.from('of one')));
    const second = await idOf(other.put(Buffer.from('of the other')));
    expect(packs()).toHaveLength(2);
    expect(Buffer.from((await other.read(first)) ?? []).toString()).toBe('of one');
    expect(Buffer.from((await one.read(second)) ?? []).toString()).toBe('of the other');
  });

  it('passes over the torn end of a pack, and damage in the midst of one', async () => {
    const store = open();
    const ids: string[] = [];
    for (let count = 0; count < 5; count++) ids.push(await idOf(store.put(some(2_000))));
    await store.close();
    const [pack = ''] = packs();
    const size = statSync(pack).size;
    const bytes = readFileSync(pack);
    // The second block loses its head, the fifth its end.
    bytes.fill(0xff, Math.floor(size / 5) + 3, Math.floor(size / 5) + 20);
    writeFileSync(pack, bytes);
    truncateSync(pack, size - 10);
    const later = open();
    const there = await Promise.all(ids.map(async (id) => (await later.read(id)) !== undefined));
    expect(there).toEqual([true, false, true, true, false]);
    appendFileSync(pack, 'PCK1 and more of no use');
    expect(await open().has(ids[0] ?? '')).toBe(true);
  });

  it('gives nothing where the bytes do not have the hash', async () => {
    const store = open();
    const id = await idOf(store.put(some(5_000)));
    await store.close();
    const [pack = ''] = packs();
    const bytes = readFileSync(pack);
    bytes[bytes.length - 100] = (bytes[bytes.length - 100] ?? 0) ^ 1;
    writeFileSync(pack, bytes);
    const later = open();
    expect(await later.has(id)).toBe(true);
    expect(await later.read(id)).toBeUndefined();
  });

  it('takes nothing more once it is full', async () => {
    const store = open(100_000);
    expect(await store.put(some(60_000))).toBeDefined();
    expect(await store.put(some(60_000))).toBeUndefined();
    expect(await store.put(some(200_000))).toBeUndefined();
    expect(await store.size()).toBeLessThan(100_000);
  });

  it('takes nothing where its directory cannot be made', async () => {
    writeFileSync(path.join(directory, 'packs'), 'in the way');
    expect(await open().put(Buffer.from('x'))).toBeUndefined();
  });

  it('drops what nobody needs, and keeps what an open tree stands on', async () => {
    const store = open();
    const needed = await idOf(store.put(some(100_000)));
    await store.close();
    const next = open();
    const pinned = await idOf(next.put(Buffer.from('pinned')));
    const unneeded = await idOf(next.put(Buffer.from('unneeded')));
    await next.close();
    const last = open();
    const useless = await idOf(last.put(Buffer.from('useless')));
    const unpin = last.pin(() => [pinned]);
    await last.prune(new Set([needed]));
    const state = await Promise.all([needed, pinned, unneeded, useless].map((id) => last.has(id)));
    expect(state).toEqual([true, true, true, false]);
    expect(await last.read(needed)).toHaveLength(100_000);
    unpin();
    await last.prune(new Set());
    expect(packs()).toEqual([]);
  });

  it('writes packs anew without what nobody needs when it is nearly full', async () => {
    const store = open(420_000);
    const ids: string[] = [];
    for (let count = 0; count < 8; count++) ids.push(await idOf(store.put(some(40_000))));
    await store.prune(new Set(ids.slice(0, 2)));
    expect(await store.size()).toBeGreaterThan(250_000);
    await store.close();
    // Four fifths of it are used: it is not over its cap, and never will be.
    const small = open(390_000);
    await small.prune(new Set(ids.slice(0, 2)));
    expect(await small.size()).toBeLessThan(100_000);
    expect(await Promise.all(ids.map((id) => small.has(id)))).toEqual(ids.map((_, at) => at < 2));
    expect(await small.read(ids[1] ?? '')).toHaveLength(40_000);
  });

  it('frees no more than makes room for a while', async () => {
    const ids: string[] = [];
    for (let count = 0; count < 9; count++) {
      // A pack for each, with something in it that is needed.
      const store = open(500_000);
      ids.push(await idOf(store.put(some(1_000))));
      await store.put(some(45_000));
      await store.close();
    }
    const store = open(500_000);
    await store.prune(new Set(ids));
    const size = await store.size();
    expect(size).toBeGreaterThan(200_000);
    expect(size).toBeLessThanOrEqual(300_000);
    expect(await store.put(some(150_000))).toBeDefined();
    for (const id of ids) expect(await store.read(id)).toHaveLength(1_000);
  });

  it('takes many small contents at once', async () => {
    const store = open();
    const contents = Array.from({ length: 20_000 }, (_, at) => Buffer.from(`content ${at}`));
    const ids = await Promise.all(contents.map((bytes) => store.put(bytes)));
    expect(new Set(ids).size).toBe(20_000);
    expect(Buffer.from((await store.read(ids[19_999] ?? '')) ?? []).toString()).toBe(
      'content 19999',
    );
  });

  it('drops nothing while somebody else has it open', async () => {
    const one = open();
    const other = open();
    await other.has('');
    const id = await idOf(one.put(Buffer.from('x')));
    await one.prune(new Set());
    expect(await one.read(id)).toBeDefined();
    await other.close();
    await one.prune(new Set());
    expect(await one.read(id)).toBeUndefined();
  });

  it('brings back any bytes (property)', async () => {
    const store = open();
    await fc.assert(
      fc.asyncProperty(
        fc.uint8Array({ maxLength: 300 }),
        fc.integer({ min: 1, max: 900 }),
        async (seed, times) => {
          const bytes = Buffer.concat(Array.from({ length: times }, () => Buffer.from(seed)));
          const id = await idOf(store.put(bytes));
          expect(Buffer.from((await store.read(id)) ?? []).equals(bytes)).toBe(true);
        },
      ),
      { numRuns: 60 },
    );
  });
});
