import {
  closeSync,
  constants,
  fstatSync,
  mkdirSync,
  openSync,
  readSync,
  statSync,
  writeSync,
} from 'node:fs';
import { dirname } from 'node:path';
import { messageOf, PortcullisError, systemCodeOf } from '../../errors.js';

/**
 * A file that only grows. What `append` wrote is safe from the death of this process when it
 * returns (not from the death of the machine: nothing is synced to the disk).
 */
export interface AppendLog {
  readonly path: string;
  /**
   * Appends lines (given without their newline), all in one write. A tail that another writer left without
   * a newline is closed first; nothing in the file is ever rewritten or cut. Returns where the file
   * ends then. Throws `AppendError` when not all of it could be written.
   *
   * A file that was deleted, moved or replaced meanwhile is noticed: the lines go to the file at the
   * path.
   */
  append(lines: readonly string[]): number;
  /**
   * Looks where the file ends now; it is made if there is none. Another value than that of the last
   * append: another writer.
   */
  end(): number;
  close(): void;
}

/** The disk did not take everything. The first `savedLines` of the lines given are in the file. */
export class AppendError extends PortcullisError {
  readonly savedLines: number;

  constructor(path: string, cause: unknown, savedLines: number) {
    super('session', `cannot append to ${path}: ${messageOf(cause)}`, {
      remedy: remedyFor(systemCodeOf(cause)),
      cause,
    });
    this.name = 'AppendError';
    this.savedLines = savedLines;
  }
}

/** Nothing is opened or made before the first append. */
export function createAppendLog(path: string): AppendLog {
  return new FileAppendLog(path);
}

const NEWLINE = 10;
// Read access is for looking at the last byte.
const FLAGS = constants.O_APPEND | constants.O_CREAT | constants.O_RDWR;

interface Written {
  readonly bytes: number;
  readonly failure?: unknown;
}

class FileAppendLog implements AppendLog {
  readonly path: string;
  #fd: number | undefined;
  #inode = 0;
  /** Where the file ended after our last look at it. Another size means another writer. */
  #size = -1;
  #torn = false;

  constructor(path: string) {
    this.path = path;
  }

  end(): number {
    this.#ready();
    return this.#size;
  }

  append(lines: readonly string[]): number {
    if (lines.length === 0) return this.#size;
    let saved = 0;
    try {
      const fd = this.#ready();
      const prefix = this.#torn ? '\n' : '';
      const bytes = Buffer.from(`${prefix}${lines.join('\n')}\n`);
      const written = this.#write(fd, bytes);
      if (written.failure === undefined) return this.#size;
      saved = wholeLines(lines, written.bytes - prefix.length);
      throw written.failure;
    } catch (thrown) {
      // The next append opens the path anew: the descriptor may be what went bad.
      this.close();
      throw new AppendError(this.path, thrown, saved);
    }
  }

  close(): void {
    const fd = this.#fd;
    this.#fd = undefined;
    if (fd === undefined) return;
    try {
      closeSync(fd);
    } catch {
      // Every write was checked when it was made; there is nothing left that closing could lose.
    }
  }

  #write(fd: number, bytes: Buffer): Written {
    let done = 0;
    try {
      // The disk may take a part of it: the rest goes on from there.
      while (done < bytes.length) done += writeSync(fd, bytes, done);
    } catch (failure) {
      return { bytes: done, failure };
    } finally {
      this.#size += done;
      if (done > 0) this.#torn = bytes[done - 1] !== NEWLINE;
    }
    return { bytes: done };
  }

  /** An open descriptor on the file, with `#torn` telling how it ends. */
  #ready(): number {
    const known = this.#fd;
    const found = statSync(this.path, { throwIfNoEntry: false });
    if (known !== undefined && found !== undefined && found.ino === this.#inode) {
      if (found.size !== this.#size) this.#lookAtEnd(known, found.size);
      return known;
    }
    this.close();
    const fd = openMakingParents(this.path);
    this.#fd = fd;
    const opened = fstatSync(fd);
    this.#inode = opened.ino;
    this.#lookAtEnd(fd, opened.size);
    return fd;
  }

  #lookAtEnd(fd: number, size: number): void {
    this.#size = size;
    if (size === 0) {
      this.#torn = false;
      return;
    }
    const last = Buffer.alloc(1, NEWLINE);
    readSync(fd, last, 0, 1, size - 1);
    this.#torn = last[0] !== NEWLINE;
  }
}

function openMakingParents(path: string): number {
  try {
    return openSync(path, FLAGS, 0o600);
  } catch (thrown) {
    if (systemCodeOf(thrown) !== 'ENOENT') throw thrown;
    makePrivateDirectory(dirname(path));
    return openSync(path, FLAGS, 0o600);
  }
}

/** Step by step: the recursive mkdir of Node says ENOENT where the disk is read-only or full. */
export function makePrivateDirectory(directory: string): void {
  try {
    mkdirSync(directory, 0o700);
  } catch (thrown) {
    const code = systemCodeOf(thrown);
    if (code === 'EEXIST' && statSync(directory).isDirectory()) return;
    const parent = dirname(directory);
    if (code !== 'ENOENT' || parent === directory) throw thrown;
    makePrivateDirectory(parent);
    makePrivateDirectory(directory);
  }
}

function wholeLines(lines: readonly string[], bytes: number): number {
  let end = 0;
  for (const [index, line] of lines.entries()) {
    end += Buffer.byteLength(line) + 1;
    if (end > bytes) return index;
  }
  return lines.length;
}

function remedyFor(code: string | undefined): string {
  switch (code) {
    case 'ENOSPC':
      return 'Free space on that disk; what is not saved yet is kept in memory and tried again.';
    case 'EDQUOT':
      return 'Your disk quota is used up: delete something, or set CLAUDE_CONFIG_DIR to another disk.';
    case 'EROFS':
      return 'The disk is read-only: set CLAUDE_CONFIG_DIR to a directory that can be written.';
    case 'EACCES':
    case 'EPERM':
      return 'Make the directory writable for you, or set CLAUDE_CONFIG_DIR to one that is.';
    case 'EIO':
      return 'The disk reports an error: check it, and set CLAUDE_CONFIG_DIR to another one.';
    default:
      return 'Check the directory, or set CLAUDE_CONFIG_DIR to another one.';
  }
}
