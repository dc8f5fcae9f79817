import { existsSync, mkdtempSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
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
  it('lets one in at a time, and is gone afterwards', async () => {
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
    expect(existsSync(lock)).toBe(false);
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

  it('is taken over when whoever held it is long gone', async () => {
    await withFileLock(lock, PATIENT, async () => undefined);
    writeFileSync(lock, 'somebody');
    utimesSync(lock, new Date(0), new Date(0));
    expect(await withFileLock(lock, PATIENT, async () => 1)).toEqual({ value: 1 });
    const later = new Date(Date.now() + 48 * 3_600_000);
    writeFileSync(lock, 'somebody with another clock');
    utimesSync(lock, later, later);
    expect(await withFileLock(lock, PATIENT, async () => 2)).toEqual({ value: 2 });
  });

  it('that was taken over is left to the other', async () => {
    await withFileLock(lock, PATIENT, async () => writeFileSync(lock, 'another'));
    expect(existsSync(lock)).toBe(true);
  });
});
