import { closeSync, mkdirSync, openSync, readFileSync, rmSync, statSync, writeSync } from 'node:fs';
import { systemCodeOf } from '../errors.js';
import { systemClock } from './clock.js';
import { dirname } from './paths.js';
import { randomUuid } from './random.js';

export interface FileLockOptions {
  /** A lock older than this was left behind by a program that is gone. */
  readonly staleMs: number;
  /** How long to wait for it. */
  readonly waitMs: number;
}

const POLL_MS = 25;

/**
 * Runs `work` while no other program holds the same lock. Undefined when the lock was not free in time:
 * the caller decides what that means.
 */
export async function withFileLock<T>(
  path: string,
  options: FileLockOptions,
  work: () => Promise<T>,
): Promise<{ readonly value: T } | undefined> {
  const deadline = systemClock.monotonic() + options.waitMs;
  const mark = randomUuid();
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
  while (!taken(path, mark)) {
    if (isStale(path, options.staleMs)) rmSync(path, { force: true });
    else if (systemClock.monotonic() >= deadline) return undefined;
    else await new Promise((resolve) => setTimeout(resolve, POLL_MS));
  }
  try {
    return { value: await work() };
  } finally {
    release(path, mark);
  }
}

/** Not when it took so long that another program took the lock over. */
function release(path: string, mark: string): void {
  try {
    if (readFileSync(path, 'utf8') === mark) rmSync(path, { force: true });
  } catch {
    // It is gone already.
  }
}

function taken(path: string, mark: string): boolean {
  try {
    const fd = openSync(path, 'wx', 0o600);
    writeSync(fd, mark);
    closeSync(fd);
    return true;
  } catch (thrown) {
    if (systemCodeOf(thrown) === 'EEXIST') return false;
    throw thrown;
  }
}

function isStale(path: string, staleMs: number): boolean {
  const stat = statSync(path, { throwIfNoEntry: false });
  // A time in the future is of another clock, and would be waited for in vain.
  return stat !== undefined && Math.abs(Date.now() - stat.mtimeMs) > staleMs;
}
