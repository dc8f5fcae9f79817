import { mkdirSync, readdirSync, readFileSync, rmdirSync, rmSync, writeFileSync } from 'node:fs';
import { PortcullisError, systemCodeOf } from '../../errors.js';
import { withFileLock } from '../../platform/fs/file-lock.js';
import { join } from '../../platform/fs/paths.js';
import { processAlive, startTimeOf } from '../../platform/process/process-tree.js';

/**
 * Something can only be mounted where something is. For a protected path that does not exist an empty
 * directory is made while a program runs, and taken away afterwards. Programs of several sessions may
 * need the same one, and taking it away would end the mount of the others: so who needs what is written
 * down, and the last one takes it away.
 */
export interface MountPoints {
  /**
   * Makes those that are missing. Those that nobody could make, because the directory above may not be
   * written, are left out: the program could not make them either.
   */
  take(paths: readonly string[]): Promise<readonly string[]>;
  /** Those that any program of ours needs now: to be taken for missing, though something is there. */
  held(): ReadonlySet<string>;
  /** The other way round. Never rejects. */
  give(paths: readonly string[]): Promise<void>;
}

const LOCK = { staleMs: 10_000, waitMs: 5000 };

/** One for each directory: all sandboxes of this program count together. */
const known = new Map<string, MountPoints>();

export function mountPoints(directory: string): MountPoints {
  const found = known.get(directory) ?? createMountPoints(directory);
  known.set(directory, found);
  return found;
}

function createMountPoints(directory: string): MountPoints {
  const counts = new Map<string, number>();
  const own = join(directory, `${process.pid}-${startTimeOf(process.pid) ?? '0'}.mounts`);
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

  /** One after the other in this program, so that only other programs have to be waited for. */
  let last: Promise<unknown> = Promise.resolve();
  const locked = <T>(work: () => Promise<T>): Promise<{ readonly value: T } | undefined> => {
    const next = last.then(() => withFileLock(lock, LOCK, work));
    last = next.catch(() => undefined);
    return next;
  };

  return {
    held: () => new Set([...counts.keys(), ...neededByOthers(directory, own)]),
    async take(paths) {
      if (paths.length === 0) return [];
      const done = await locked(async () => {
        sweep(directory, own);
        // Written down first: what is made must be found again even when we are killed right after.
        for (const path of paths) change(path, 1);
        save();
        const made = paths.filter(make);
        for (const path of paths) if (!made.includes(path)) change(path, -1);
        save();
        return made;
      });
      // fail-closed: without knowing who needs what, another program's mount could be undone.
      if (done === undefined) throw busy(lock);
      return done.value;
    },
    async give(paths) {
      if (paths.length === 0) return;
      try {
        await locked(async () => {
          for (const path of paths) change(path, -1);
          save();
          const others = neededByOthers(directory, own);
          for (const path of paths) if (!counts.has(path) && !others.has(path)) removeEmpty(path);
        });
      } catch {
        // The next program that takes any sweeps up.
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
    // There already: of another program of ours, or of somebody else since we looked.
    if (code === 'EEXIST') return true;
    if (code === 'EACCES' || code === 'EPERM' || code === 'EROFS') return false;
    throw thrown;
  }
}

/** fail-closed: what is not empty is not ours. */
function removeEmpty(path: string): void {
  try {
    rmdirSync(path);
  } catch {
    // Somebody has put something there, or it is gone.
  }
}

/** Takes away what programs left behind that are gone. */
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
    const match = /^(\d+)-(\d+)\.mounts$/.exec(name);
    if (match === null) return [];
    const pid = Number(match[1]);
    const isAlive = processAlive(pid) && (startTimeOf(pid) ?? '0') === match[2];
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
