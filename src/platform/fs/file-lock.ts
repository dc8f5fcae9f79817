import {
  linkSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { systemCodeOf } from '../../errors.js';
import { parseJson } from '../../lib/json.js';
import { isRecord } from '../../lib/own.js';
import { nodeProcesses } from '../process/process-stamp.js';
import { randomUuid } from '../random.js';
import { join } from './paths.js';

export interface FileLockOptions {
  /** How long to wait for it. */
  readonly waitMs: number;
  /** A lock older than this does not count, even while its process lives. Absent: it always counts. */
  readonly staleMs?: number;
}

const POLL_MS = 4;
const FREE = 'free\n';

/**
 * Runs `work` while no other process, and no other task of this one, holds the same lock. The lock of a
 * process that is gone does not count. Undefined when the lock was not free in time: the caller
 * decides what that means.
 *
 * The path becomes a directory of numbered files. The highest number has the lock, unless it is marked
 * free or its holder is gone. A process that wants it creates the next number; only one can. Removing a
 * stale file and making it anew would let two in: between the look and the removal another may have
 * taken it. The last number stays, marked free, so that none is ever used twice.
 */
export async function withFileLock<T>(
  path: string,
  options: FileLockOptions,
  work: () => T | Promise<T>,
): Promise<{ readonly value: T } | undefined> {
  mkdirSync(path, { recursive: true, mode: 0o700 });
  const deadline = performance.now() + options.waitMs;
  let mine = tryToTake(path, options.staleMs);
  while (mine === undefined) {
    if (performance.now() >= deadline) return undefined;
    await new Promise((resolve) => setTimeout(resolve, POLL_MS + Math.random() * POLL_MS));
    mine = tryToTake(path, options.staleMs);
  }
  try {
    return { value: await work() };
  } finally {
    release(mine);
  }
}

/** Whether the last holder ended without giving the lock back. The next process takes it over. */
export function isAbandonedLock(path: string): boolean {
  try {
    const top = highest(path);
    if (top === 0) return false;
    const file = join(path, String(top));
    return readFileSync(file, 'utf8') !== FREE && !isHeld(file, undefined);
  } catch (thrown) {
    // It was given back or removed just now.
    if (systemCodeOf(thrown) === 'ENOENT') return false;
    throw thrown;
  }
}

function tryToTake(lock: string, staleMs: number | undefined): string | undefined {
  const top = highest(lock);
  if (top > 0 && isHeld(join(lock, String(top)), staleMs)) return undefined;
  const file = join(lock, String(top + 1));
  const draft = join(lock, `${randomUuid()}.tmp`);
  const holder = { ...nodeProcesses.self(), mark: randomUuid() };
  writeFileSync(draft, `${JSON.stringify(holder)}\n`, { mode: 0o600, flag: 'wx' });
  try {
    // Linked once it is complete: a reader never sees a lock without its holder.
    linkSync(draft, file);
  } catch (thrown) {
    if (systemCodeOf(thrown) === 'EEXIST') return undefined;
    throw thrown;
  } finally {
    rmSync(draft, { force: true });
  }
  // Our look was old: others have had the lock and tidied up since.
  if (highest(lock) > top + 1) {
    rmSync(file, { force: true });
    return undefined;
  }
  for (const number of numbers(lock)) {
    if (number <= top) rmSync(join(lock, String(number)), { force: true });
  }
  return file;
}

function isHeld(file: string, staleMs: number | undefined): boolean {
  let text: string;
  let age: number;
  try {
    text = readFileSync(file, 'utf8');
    // A time in the future is of another clock, and would be waited for in vain.
    age = Math.abs(Date.now() - statSync(file).mtimeMs);
  } catch (thrown) {
    // A later holder removed it: look again.
    if (systemCodeOf(thrown) === 'ENOENT') return true;
    throw thrown;
  }
  if (text === FREE || (staleMs !== undefined && age > staleMs)) return false;
  const parsed = parseJson(text);
  const { pid, start } = parsed.ok && isRecord(parsed.value) ? parsed.value : {};
  // fail-closed: a holder that is not named may still be alive.
  if (typeof pid !== 'number') return true;
  return nodeProcesses.isAlive({ pid, start: typeof start === 'string' ? start : undefined });
}

/** Whole at once, by the rename. Not when it took so long that another has taken the lock over. */
function release(file: string): void {
  try {
    statSync(file);
    const draft = `${file}.${randomUuid()}.tmp`;
    writeFileSync(draft, FREE, { mode: 0o600, flag: 'wx' });
    renameSync(draft, file);
  } catch {
    // The directory is gone, and the lock with it; or the process ends, and its lock then.
  }
}

function numbers(lock: string): readonly number[] {
  return readdirSync(lock)
    .filter((name) => /^\d{1,15}$/.test(name))
    .map(Number);
}

function highest(lock: string): number {
  return Math.max(0, ...numbers(lock));
}
