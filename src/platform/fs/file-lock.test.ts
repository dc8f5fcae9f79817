import { mkdirSync, mkdtempSync, readdirSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { withFileLock } from './file-lock.js';

let directory: string;
let lock: string;
const PATIENT = { staleMs: 60_000, waitMs: 20_000 };

beforeEach(() => {
  directory = mkdtempSync(path.join(tmpdir(), 'portcullis-lock-'));
  lock = path.join(directory, 'deep', 'a.lock');
});

afterEach(() => {
  rmSync(directory, { recursive: true, force: true });
});

describe('a lock in the file system', () => {
  it('lets one in at a time, and is free afterwards', async () => {
    let inside = 0;
    let most = 0;
    const work = async (): Promise<number> => {
      most = Math.max(most, ++inside);
      await new Promise((resolve) => setTimeout(resolve, 5));
      return inside--;
    };
    const all = await Promise.all(
      Array.from({ length: 6 }, () => withFileLock(lock, PATIENT, work)),
    );
    expect(all).toEqual(Array.from({ length: 6 }, () => ({ value: 1 })));
    expect(most).toBe(1);
    expect(await withFileLock(lock, { waitMs: 0 }, async () => 2)).toEqual({ value: 2 });
    expect(readdirSync(lock)).toHaveLength(1);
  });

  it('is released when the work throws', async () => {
    const broken = withFileLock(lock, PATIENT, () => Promise.reject(new Error('no')));
    await expect(broken).rejects.toThrow('no');
    expect(await withFileLock(lock, PATIENT, async () => 2)).toEqual({ value: 2 });
  });

  it('is not waited for for ever', async () => {
    await withFileLock(lock, PATIENT, async () => {
      const second = await withFileLock(lock, { staleMs: 60_000, waitMs: 30 }, async () => 1);
      expect(second).toBeUndefined();
    });
  });

  /** Puts a holder into the lock, as of that time. */
  const heldBy = (text: string, at = new Date()): void => {
    mkdirSync(lock, { recursive: true });
    const top = Math.max(0, ...readdirSync(lock).map(Number));
    writeFileSync(path.join(lock, String(top + 1)), text);
    utimesSync(path.join(lock, String(top + 1)), at, at);
  };
  const LATER = new Date(Date.now() + 48 * 3_600_000);

  it.each([
    ['is gone', JSON.stringify({ pid: 4_194_305 }), new Date()],
    ['has held it for too long', JSON.stringify({ pid: process.pid }), new Date(0)],
    ['has another clock', JSON.stringify({ pid: process.pid }), LATER],
  ])('is taken over when whoever held it %s', async (_, holder, at) => {
    heldBy(holder, at);
    expect(await withFileLock(lock, PATIENT, async () => 1)).toEqual({ value: 1 });
  });

  it('is not taken from a process that lives, nor from one that does not say who it is', async () => {
    heldBy(JSON.stringify({ pid: process.pid }), new Date(0));
    expect(await withFileLock(lock, { waitMs: 0 }, async () => 1)).toBeUndefined();
    heldBy('nonsense');
    expect(await withFileLock(lock, { ...PATIENT, waitMs: 0 }, async () => 1)).toBeUndefined();
  });

  it('that was taken over is left to the other', async () => {
    await withFileLock(lock, PATIENT, async () => heldBy(JSON.stringify({ pid: process.pid })));
    expect(await withFileLock(lock, { waitMs: 0 }, async () => 1)).toBeUndefined();
  });
});
