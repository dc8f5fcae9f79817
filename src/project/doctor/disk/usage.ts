import { accessSync, constants, lstatSync, readdirSync, statfsSync } from 'node:fs';
import { systemCodeOf } from '../../../errors.js';
import { isAbandonedLock } from '../../../platform/fs/file-lock.js';
import { dirname, join } from '../../../platform/fs/paths.js';

/** What a directory holds, and what this user can do with it. */
export interface DirectoryUsage {
  readonly exists: boolean;
  /** Whether files can be created in it; of a missing directory, in the nearest one above it. */
  readonly writable: boolean;
  /** Bytes that this user can still write. Absent where the system does not report them. */
  readonly freeBytes?: number | undefined;
  readonly bytes: number;
  readonly files: number;
  /** Files and directories that other users of this machine may read or change. */
  readonly exposed: readonly string[];
  /** Locks of processes that are gone. */
  readonly abandonedLocks: readonly string[];
  /** There is more than was counted. */
  readonly cut: boolean;
}

const MAX_ENTRIES = 200_000;
const OTHERS = 0o077;

/** Adds up the files below a directory, without following links. */
export function directoryUsage(directory: string): DirectoryUsage {
  const exists = lstatSync(directory, { throwIfNoEntry: false }) !== undefined;
  const nearest = existingParent(directory);
  const usage = { bytes: 0, files: 0, seen: 0 };
  const exposed: string[] = [];
  const abandonedLocks: string[] = [];
  const queue = exists ? [directory] : [];
  for (let path = queue.pop(); path !== undefined; path = queue.pop()) {
    // Files come and go while sessions run.
    const stat = lstatSync(path, { throwIfNoEntry: false });
    if (stat === undefined || stat.isSymbolicLink()) continue;
    if (++usage.seen > MAX_ENTRIES) break;
    if (process.platform !== 'win32' && (stat.mode & OTHERS) !== 0) exposed.push(path);
    if (!stat.isDirectory()) {
      usage.files++;
      usage.bytes += stat.size;
      continue;
    }
    if (path.endsWith('.lock') && isAbandonedLock(path)) abandonedLocks.push(path);
    for (const name of namesIn(path)) queue.push(join(path, name));
  }
  return {
    exists,
    writable: isWritable(nearest),
    freeBytes: freeBytes(nearest),
    bytes: usage.bytes,
    files: usage.files,
    exposed,
    abandonedLocks,
    cut: usage.seen > MAX_ENTRIES,
  };
}

function existingParent(path: string): string {
  const parent = dirname(path);
  if (parent === path || lstatSync(path, { throwIfNoEntry: false }) !== undefined) return path;
  return existingParent(parent);
}

function namesIn(directory: string): readonly string[] {
  try {
    return readdirSync(directory);
  } catch (thrown) {
    // A directory of another user counts as empty; its own mode is what matters.
    if (['EACCES', 'EPERM', 'ENOENT'].includes(systemCodeOf(thrown) ?? '')) return [];
    throw thrown;
  }
}

function isWritable(directory: string): boolean {
  try {
    accessSync(directory, constants.W_OK | constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

function freeBytes(directory: string): number | undefined {
  try {
    const { bavail, blocks, bsize } = statfsSync(directory);
    return blocks === 0 ? undefined : bavail * bsize;
  } catch {
    // Some file systems do not report it.
    return undefined;
  }
}
