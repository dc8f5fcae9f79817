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
import { messageOf, PortcullisError, systemCodeOf } from '../errors.js';
import { type AtOnce, isLater } from '../util/at-once.js';
import { withNewFile } from './new-file.js';
import { turnOfTheLoop } from './turns.js';

/**
 * A file that only grows. What `append` wrote is safe from the death of this process when it
 * returns (not from the death of the machine: nothing is synced to the disk).
 */
export interface AppendLog {
  readonly path: string;
  /**
   * Appends lines (given without their newline), all in one write. A tail that somebody left without
   * a newline is closed first; nothing in the file is ever rewritten or cut. Returns where the file
   * ends then. Throws `AppendError` when not all of it could be written.
   *
   * A file that was deleted, moved or replaced meanwhile is noticed: the lines go to the file at the
   * path. It is looked at once in each turn of the event loop: what is appended in one goes to one file.
   */
  append(lines: readonly string[]): number;
  /**
   * Opens the file, at once or, where that is slow, while the program goes on, so that the first append need not
   * wait for the disk to make it. Never fails: what is wrong with the file is for the append to say.
   */
  prepare(): AtOnce<void>;
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

/** Where lines are encoded, outside of the heap: a write is done when it returns, so all logs share it. */
let desk: Buffer | undefined;
const DESK_BYTES = 128 * 1024;
/** What a character takes at the most. */
const BYTES_PER_CHAR = 3;

/** The lines as they are written, each with its newline, from the beginning of `bytes`. */
function encoded(prefix: string, lines: readonly string[]): { bytes: Buffer; length: number } {
  let most = prefix.length;
  for (const line of lines) most += line.length * BYTES_PER_CHAR + 1;
  desk ??= Buffer.allocUnsafeSlow(DESK_BYTES);
  const bytes = most <= DESK_BYTES ? desk : Buffer.allocUnsafeSlow(sizeOf(prefix, lines));
  let length = prefix === '' ? 0 : bytes.write(prefix);
  for (const line of lines) {
    length += bytes.write(line, length);
    bytes[length++] = NEWLINE;
  }
  return { bytes, length };
}

function sizeOf(prefix: string, lines: readonly string[]): number {
  let size = prefix.length;
  for (const line of lines) size += Buffer.byteLength(line) + 1;
  return size;
}

class FileAppendLog implements AppendLog {
  readonly path: string;
  #fd: number | undefined;
  #inode = 0;
  /** Where the file ended after our last look at it. Another size means another writer. */
  #size = -1;
  #torn = false;
  /** The turn of the event loop in which the path was last looked at. */
  #lookedIn = -1;
  /** How often it was closed: an opening under way is not to outlive that. */
  #closed = 0;

  constructor(path: string) {
    this.path = path;
  }

  end(): number {
    this.#lookedIn = -1;
    this.#ready();
    return this.#size;
  }

  prepare(): AtOnce<void> {
    if (this.#fd !== undefined) return undefined;
    const closed = this.#closed;
    const take = (fd: number): void => {
      // Whoever appended meanwhile has opened it already; whoever closed it wants none.
      if (this.#fd === undefined && closed === this.#closed) this.#take(fd);
      else closeSync(fd);
    };
    // The append opens it anew, and says what is wrong with it.
    const failed = (): void => {
      if (closed === this.#closed) this.close();
    };
    try {
      const opening = makingParents(this.path, () => withNewFile(this.path, FLAGS, take));
      return isLater(opening) ? opening.catch(failed) : opening;
    } catch {
      return failed();
    }
  }

  append(lines: readonly string[]): number {
    if (lines.length === 0) return this.#size;
    let saved = 0;
    try {
      const fd = this.#ready();
      const prefix = this.#torn ? '\n' : '';
      const { bytes, length } = encoded(prefix, lines);
      const written = this.#write(fd, bytes, length);
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
    this.#closed++;
    if (fd === undefined) return;
    try {
      closeSync(fd);
    } catch {
      // Every write was checked when it was made; there is nothing left that closing could lose.
    }
  }

  #write(fd: number, bytes: Buffer, length: number): Written {
    let done = 0;
    try {
      // The disk may take a part of it: the rest goes on from there.
      while (done < length) done += writeSync(fd, bytes, done, length - done);
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
    const turn = turnOfTheLoop();
    if (known !== undefined && this.#lookedIn === turn) return known;
    const found = statSync(this.path, { throwIfNoEntry: false });
    if (known !== undefined && found !== undefined && found.ino === this.#inode) {
      this.#lookedIn = turn;
      if (found.size !== this.#size) this.#lookAtEnd(known, found.size);
      return known;
    }
    this.close();
    const fd = openMakingParents(this.path);
    this.#take(fd);
    return fd;
  }

  #take(fd: number): void {
    this.#fd = fd;
    this.#lookedIn = turnOfTheLoop();
    const opened = fstatSync(fd);
    this.#inode = opened.ino;
    this.#lookAtEnd(fd, opened.size);
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

/** As `openMakingParents`, for what may be done later. */
function makingParents(path: string, make: () => AtOnce<void>): AtOnce<void> {
  const again = (thrown: unknown): AtOnce<void> => {
    if (systemCodeOf(thrown) !== 'ENOENT') throw thrown;
    makePrivateDirectory(dirname(path));
    return make();
  };
  try {
    const making = make();
    return isLater(making) ? making.catch(again) : making;
  } catch (thrown) {
    return again(thrown);
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
