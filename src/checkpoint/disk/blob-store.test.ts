import {
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { deflateRawSync } from 'node:zlib';
import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { sha256 } from '../../platform/hash.js';
import { randomBytes } from '../../platform/random.js';
import { type BlobStore, openBlobStore } from './blob-store.js';

let directory: string;

beforeEach(() => {
  directory = mkdtempSync(path.join(os.tmpdir(), 'portcullis-blobs-'));
});

afterEach(() => {
  rmSync(directory, { recursive: true, force: true });
});

function open(maxBytes = 1e9): BlobStore {
  return openBlobStore({ directory, maxBytes });
}

const objects = (): string[] =>
  readdirSync(path.join(directory, 'objects'), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => path.join(entry.parentPath, entry.name));

/** Makes all objects look old. */
const age = (): void => {
  for (const object of objects()) utimesSync(object, 0, 0);
};
const some = (bytes: number): Uint8Array => Uint8Array.from(randomBytes(bytes));
const idOf = async (stored: Promise<string | undefined>): Promise<string> => (await stored) ?? '';

describe('a store of contents', () => {
  it('gives back what was put, by its hash, also to the next process', async () => {
    const store = open();
    const contents = [new Uint8Array(), Buffer.from('one'), some(70_000), some(3_000_000)];
    const ids = await Promise.all(contents.map((bytes) => store.put(bytes)));
    expect(ids).toEqual(contents.map((bytes) => sha256(bytes)));
    const later = open();
    for (const [at, id] of ids.entries()) {
      expect(await later.has(id ?? '')).toBe(true);
      expect(sha256((await later.read(id ?? '')) ?? 'none')).toBe(ids[at]);
    }
    expect(await later.has('0'.repeat(64))).toBe(false);
    expect(await later.read('../../etc/passwd')).toBeUndefined();
  });

  it('keeps the same bytes once', async () => {
    const store = open();
    const bytes = some(1_000_000);
    await store.put(bytes);
    const before = await store.size();
    expect(before).toBeGreaterThan(1_000_000);
    await store.put(Uint8Array.from(bytes));
    expect(await store.size()).toBe(before);
    expect(objects()).toHaveLength(1);
  });

  it('is shared by processes that write at once', async () => {
    const one = open();
    const other = open();
    await Promise.all([one.has(''), other.has('')]);
    const first = await idOf(one.put(Buffer.from('of one')));
    const second = await idOf(other.put(Buffer.from('of the other')));
    expect(objects()).toHaveLength(2);
    expect(Buffer.from((await other.read(first)) ?? []).toString()).toBe('of one');
    expect(Buffer.from((await one.read(second)) ?? []).toString()).toBe('of the other');
  });

  it('does not count what a killed process left of an unfinished content', async () => {
    const store = open();
    const id = await idOf(store.put(some(5_000)));
    const [object = ''] = objects();
    renameSync(object, `${object}.0123456789ab`);
    age();
    const later = open();
    expect(await later.has(id)).toBe(false);
    expect(await later.read(id)).toBeUndefined();
    await later.prune(async () => new Set([id]));
    expect(objects()).toEqual([]);
  });

  it.each([
    ['damaged', (bytes: Buffer) => bytes.fill(0xff, 100, 200)],
    ['cut off', (bytes: Buffer) => bytes.subarray(0, -10)],
    ['replaced', () => deflateRawSync('other bytes')],
  ])('gives nothing where the bytes are %s', async (_, change) => {
    const store = open();
    const id = await idOf(store.put(some(5_000)));
    const [object = ''] = objects();
    writeFileSync(object, change(readFileSync(object)));
    expect(await store.read(id)).toBeUndefined();
  });

  it('takes nothing more once it is full', async () => {
    const store = open(100_000);
    expect(await store.put(some(60_000))).toBeDefined();
    expect(await store.put(some(60_000))).toBeUndefined();
    expect(await store.put(some(200_000))).toBeUndefined();
    expect(await store.size()).toBeLessThan(100_000);
  });

  it('takes nothing where its directory cannot be made', async () => {
    writeFileSync(path.join(directory, 'objects'), 'in the way');
    expect(await open().put(Buffer.from('x'))).toBeUndefined();
  });

  it('drops what nobody needs, once nobody has put it for a while', async () => {
    const store = open();
    const needed = await idOf(store.put(some(100_000)));
    const unneeded = await idOf(store.put(Buffer.from('unneeded')));
    const again = await idOf(store.put(Buffer.from('again')));
    age();
    const fresh = await idOf(store.put(Buffer.from('fresh')));
    await open().put(Buffer.from('again'));
    const before = await store.size();
    await store.prune(async () => [needed]);
    const ids = [needed, unneeded, again, fresh];
    const state = await Promise.all(ids.map((id) => store.has(id)));
    expect(state).toEqual([true, false, true, true]);
    expect(await store.size()).toBeLessThan(before);
    age();
    await store.prune(async () => []);
    expect(objects()).toEqual([]);
  });

  it('takes many small contents at once', async () => {
    const store = open();
    const contents = Array.from({ length: 4_000 }, (_, at) => Buffer.from(`content ${at}`));
    const ids = await Promise.all(contents.map((bytes) => store.put(bytes)));
    expect(new Set(ids).size).toBe(4_000);
    expect(Buffer.from((await store.read(ids[3_999] ?? '')) ?? []).toString()).toBe('content 3999');
  });

  it('drops nothing that a process puts while the journals are read', async () => {
    const one = open();
    const id = await idOf(one.put(Buffer.from('x')));
    age();
    await one.prune(async () => {
      expect(await open().put(Buffer.from('x'))).toBe(id);
      return [];
    });
    expect(await one.read(id)).toBeDefined();
  });

  it.each([
    ['empty', () => new Uint8Array()],
    ['cut off', (bytes: Buffer) => bytes.subarray(0, -10)],
    ['replaced', () => deflateRawSync('other bytes')],
  ])('writes an object anew that is %s', async (_, change) => {
    const bytes = some(5_000);
    const id = await idOf(open().put(bytes));
    const [object = ''] = objects();
    writeFileSync(object, change(readFileSync(object)));
    const later = open();
    expect(await idOf(later.put(bytes))).toBe(id);
    expect(await later.read(id)).toEqual(bytes);
  });

  it('has no object that a loss of power left empty', async () => {
    const id = await idOf(open().put(some(5_000)));
    writeFileSync(objects()[0] ?? '', '');
    expect(await open().has(id)).toBe(false);
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
