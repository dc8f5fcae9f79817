import { mkdirSync, readdirSync, readFileSync, rmdirSync, rmSync, writeFileSync } from 'node:fs';
import { PortcullisError, systemCodeOf } from '../../errors.js';
import { Queue } from '../../lib/queue.js';
import { withFileLock } from '../../platform/fs/file-lock.js';
import { join } from '../../platform/fs/paths.js';
import { nodeProcesses } from '../../platform/process/process-stamp.js';

/**
 * Provides mount points for protected paths that do not exist: empty directories while a program runs.
 * Sessions may share one, and removing it would end the others' mounts, so each records its needs and the
 * last one removes it.
 */
export interface MountPoints {
  /**
   * Creates the missing directories and returns the usable ones. Paths below an unwritable directory are
   * skipped, because the program could not create them either.
   */
  take(paths: readonly string[]): Promise<readonly string[]>;
  /** The directories that exist only as our mount points and count as missing. */
  held(): ReadonlySet<string>;
  /** Releases the directories. Never rejects. */
  give(paths: readonly string[]): Promise<void>;
}

const LOCK = { staleMs: 10_000, waitMs: 5000 };

/** Shared by all sandboxes of this process, by directory. */
const known = new Map<string, MountPoints>();

export function mountPoints(directory: string): MountPoints {
  const found = known.get(directory) ?? createMountPoints(directory);
  known.set(directory, found);
  return found;
}

function createMountPoints(directory: string): MountPoints {
  const counts = new Map<string, number>();
  const { pid, start = '0' } = nodeProcesses.self();
  const own = join(directory, `${pid}-${start}.mounts`);
  const lock = join(directory, 'mounts.lock');

  const save = (): void => {
    if (counts.size === 0) rmSync(own, { force: true });
    else writeFileSync(own, JSON.stringify([...counts.keys()]), { mode: 0o600 });
  };
  const change = (path: string, by: number): void => {
    const count = (counts.get(path) ?? 0) + by;
    if (count > 0) counts.set(path, count);
    else counts.delete(path);
  };

  /** Serialises this process's work, so that only other processes contend for the lock. */
  const queue = new Queue();
  const locked = <T>(work: () => T) => queue.add(() => withFileLock(lock, LOCK, work));

  return {
    held: () => new Set([...counts.keys(), ...neededByOthers(directory, own)]),
    async take(paths) {
      if (paths.length === 0) return [];
      const done = await locked(() => {
        sweep(directory, own);
        // Recorded before creation, so that a killed process's directories are found again.
        for (const path of paths) change(path, 1);
        save();
        const made = paths.filter(make);
        for (const path of paths) if (!made.includes(path)) change(path, -1);
        save();
        return made;
      });
      // fail-closed: without the records another program's mount could be undone.
      if (done === undefined) throw busy(lock);
      return done.value;
    },
    async give(paths) {
      if (paths.length === 0) return;
      try {
        await locked(() => {
          for (const path of paths) change(path, -1);
          save();
          const others = neededByOthers(directory, own);
          for (const path of paths) if (!counts.has(path) && !others.has(path)) removeEmpty(path);
        });
      } catch {
        // The next `take` cleans up.
      }
    },
  };
}

function make(path: string): boolean {
  try {
    mkdirSync(path, { mode: 0o755 });
    return true;
  } catch (thrown) {
    const code = systemCodeOf(thrown);
    // It exists by now, made by another of our programs or by the user.
    if (code === 'EEXIST') return true;
    if (code === 'EACCES' || code === 'EPERM' || code === 'EROFS') return false;
    throw thrown;
  }
}

/** fail-closed: a directory with content is not ours. */
function removeEmpty(path: string): void {
  try {
    rmdirSync(path);
  } catch {
    // The directory is not empty or already gone.
  }
}

/** Removes the mount points of ended processes. */
function sweep(directory: string, own: string): void {
  const left: string[] = [];
  for (const { file, isAlive } of records(directory)) {
    if (file === own || isAlive) continue;
    left.push(...listed(file));
    rmSync(file, { force: true });
  }
  if (left.length === 0) return;
  const needed = neededByOthers(directory, '');
  for (const path of left) if (!needed.has(path)) removeEmpty(path);
}

function neededByOthers(directory: string, own: string): ReadonlySet<string> {
  return new Set(
    records(directory).flatMap(({ file, isAlive }) =>
      file !== own && isAlive ? listed(file) : [],
    ),
  );
}

function records(directory: string): readonly { file: string; isAlive: boolean }[] {
  return namesIn(directory).flatMap((name) => {
    const [, pid, start] = /^(\d+)-(\d+)\.mounts$/.exec(name) ?? [];
    if (pid === undefined) return [];
    const isAlive = nodeProcesses.isAlive({ pid: Number(pid), start });
    return [{ file: join(directory, name), isAlive }];
  });
}

function namesIn(directory: string): readonly string[] {
  try {
    return readdirSync(directory);
  } catch {
    return [];
  }
}

function listed(file: string): readonly string[] {
  try {
    const paths: unknown = JSON.parse(readFileSync(file, 'utf8'));
    return Array.isArray(paths) ? paths.filter((path) => typeof path === 'string') : [];
  } catch {
    return [];
  }
}

function busy(lock: string): PortcullisError {
  return new PortcullisError('io', 'another program keeps the sandbox waiting', {
    remedy: `If no other program of ours runs, remove ${lock}.`,
  });
}
