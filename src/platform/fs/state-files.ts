import {
  closeSync,
  constants,
  existsSync,
  fstatSync,
  fsyncSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { messageOf, systemCodeOf } from '../../errors.js';
import { err, ok, type Result } from '../../lib/result.js';
import { createAppendLog, makePrivateDirectory } from './append-log.js';
import { dirname } from './paths.js';

/** Small private files of the program. Synchronous: what returns has happened. */
export interface StateFiles {
  /** Writes a private file that no reader sees half-written. Throws. */
  write(path: string, text: string): void;
  /** Writes a private file that is on the disk, and whole, when this returns. Throws. */
  writeDurable(path: string, text: string): void;
  /** Writes a private file that no reader sees half-written, unless there is one already. Throws. */
  writeOnce(path: string, text: string): void;
  /** Creates a private file that is on the disk when this returns. False: there is one already. Throws. */
  createOnce(path: string, text: string): boolean;
  /**
   * Reads a file that is ours and that no other user may write. Undefined: there is none. An error: there
   * is one that does not count, and why.
   */
  readOwn(path: string): Result<string, string> | undefined;
  /** Undefined when there is no such file, or it cannot be read. */
  read(path: string): string | undefined;
  /** Names in a directory, without files that are being written; none when it cannot be read. */
  list(directory: string): readonly string[];
  /** Removes a file, or a directory with all that is in it. */
  remove(path: string): void;
  /** Moves an unusable file aside for inspection and returns its new name. An earlier one there is replaced. */
  setAside(path: string): string;
  /** Opens a private file that only grows. */
  openSyncedLog(path: string): SyncedLog;
}

export const stateFiles: StateFiles = {
  write: (path, text) => replace(path, text, { sync: false }),
  writeDurable(path, text) {
    replace(path, text, { sync: true });
    syncPath(dirname(path));
  },
  writeOnce(path, text) {
    if (!existsSync(path)) replace(path, text, { sync: false });
  },
  createOnce,
  readOwn,
  read(path) {
    try {
      return readFileSync(path, 'utf8');
    } catch {
      // The caller says that it is gone.
      return undefined;
    }
  },
  list(directory) {
    try {
      return readdirSync(directory).filter((name) => !name.endsWith('.tmp'));
    } catch {
      // Not there yet, or closed to us: there is nothing in it for us.
      return [];
    }
  },
  remove: (path) => rmSync(path, { recursive: true, force: true }),
  setAside(path) {
    const aside = `${path}.broken`;
    // A rename puts no file in the place of a directory, nor a directory in that of a file.
    rmSync(aside, { recursive: true, force: true });
    renameSync(path, aside);
    return aside;
  },
  openSyncedLog,
};

/** A file that only grows, for its owner alone. */
export interface SyncedLog {
  /** The lines are on the disk when this returns: they survive the death of the machine. Throws. */
  append(lines: readonly string[], options?: { readonly sync?: boolean }): void;
  close(): void;
}

/** `readOwn` refuses longer files. */
export const MOST_OWN_BYTES = 1 << 20;

const READ = constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0) | (constants.O_NONBLOCK ?? 0);

function createOnce(path: string, text: string): boolean {
  makePrivateDirectory(dirname(path));
  // The empty file keeps the place; the rename fills it at once, so that no reader sees half of it.
  try {
    closeSync(openSync(path, 'wx', 0o600));
  } catch (thrown) {
    if (systemCodeOf(thrown) === 'EEXIST') return false;
    throw thrown;
  }
  try {
    replace(path, text, { sync: true });
  } catch (thrown) {
    // An empty place would pass for an answer that has been given.
    rmSync(path, { force: true });
    throw thrown;
  }
  return true;
}

function readOwn(path: string): Result<string, string> | undefined {
  let fd: number;
  try {
    fd = openSync(path, READ);
  } catch (thrown) {
    return systemCodeOf(thrown) === 'ENOENT' ? undefined : err(messageOf(thrown));
  }
  try {
    const stat = fstatSync(fd);
    // fail-closed: what others could have written says nothing.
    if (!stat.isFile()) return err('it is not a regular file');
    if (process.getuid !== undefined && stat.uid !== process.getuid()) {
      return err('it belongs to another user');
    }
    if (process.platform !== 'win32' && (stat.mode & 0o022) !== 0) {
      return err('others may write it');
    }
    if (stat.nlink !== 1) return err('it has other names');
    if (stat.size > MOST_OWN_BYTES) return err('it is too long');
    // Still being made: the next look finds it whole.
    if (stat.size === 0) return undefined;
    return ok(readFileSync(fd, 'utf8'));
  } catch (thrown) {
    return err(messageOf(thrown));
  } finally {
    closeSync(fd);
  }
}

function openSyncedLog(path: string): SyncedLog {
  const log = createAppendLog(path);
  return {
    append(lines, { sync = true } = {}) {
      const isNew = sync && statSync(path, { throwIfNoEntry: false }) === undefined;
      log.append(lines);
      if (!sync) return;
      syncPath(path);
      // The name of a new file is a matter of its directory.
      if (isNew) syncPath(dirname(path));
    },
    close: () => log.close(),
  };
}

function replace(path: string, text: string, { sync }: { readonly sync: boolean }): void {
  makePrivateDirectory(dirname(path));
  // Renamed when it is whole: a crash leaves no half of it under its name.
  const draft = `${path}.${process.pid}.tmp`;
  // A process of this number may have left one behind when it died.
  rmSync(draft, { force: true });
  try {
    writeFileSync(draft, text, { flag: 'wx', mode: 0o600, flush: sync });
    renameSync(draft, path);
  } catch (thrown) {
    rmSync(draft, { force: true });
    throw thrown;
  }
}

/** Any descriptor works: the system writes out the changes of all processes to the file. */
function syncPath(path: string): void {
  const fd = openSync(path, constants.O_RDONLY);
  try {
    fsyncSync(fd);
  } catch (thrown) {
    // Some file systems cannot sync a directory; the file itself is safe by then.
    if (fstatSync(fd).isFile()) throw thrown;
  } finally {
    closeSync(fd);
  }
}
