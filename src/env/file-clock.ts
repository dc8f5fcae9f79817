import {
  closeSync,
  constants,
  fstatSync,
  futimesSync,
  openSync,
  statfsSync,
  statSync,
  unlinkSync,
} from 'node:fs';
import { systemCodeOf } from '../errors.js';
import { join } from './paths.js';
import { randomBytes } from './random.js';

/**
 * A moment by the clock that stamps files. What was changed before it bears a time of at most `before`,
 * what is changed after it one of at least `after`, which is later.
 */
export interface FileMoment {
  readonly before: number;
  readonly after: number;
}

/**
 * File systems of which Linux keeps the change times of all files in order (since 6.13 finer than the
 * clock's ticks, and only then a moment can be told): ext4, XFS, Btrfs, tmpfs.
 */
const IN_ORDER: ReadonlySet<number> = new Set([0xef53, 0x58465342, 0x9123683e, 0x01021994]);

/**
 * Tells by the change time of a file of our own where a moment lies among the change times of a tree.
 * Two changes of it with different times are the proof that the clock is fine enough just now.
 */
export class FileClock {
  readonly #directory: string;
  readonly #root: string;
  #fd: number | undefined;
  #isUseless = false;

  /** `directory` is ours, outside of `root`; both have to be on one file system for it to be of use. */
  constructor(directory: string, root: string) {
    this.#directory = directory;
    this.#root = root;
  }

  /** Undefined: the times of files do not tell what was before this moment and what is after it. */
  now(): FileMoment | undefined {
    if (this.#isUseless) return undefined;
    try {
      this.#fd ??= this.#open();
      const before = touched(this.#fd);
      const after = touched(this.#fd);
      return after > before ? { before, after } : undefined;
    } catch (thrown) {
      // One of the two directories may still be made. Whatever else it is, it will be the next time too.
      if (systemCodeOf(thrown) !== 'ENOENT') this.close();
      return undefined;
    }
  }

  close(): void {
    this.#isUseless = true;
    if (this.#fd !== undefined) closeSync(this.#fd);
    this.#fd = undefined;
  }

  #open(): number {
    if (!IN_ORDER.has(statfsSync(this.#root).type)) throw new Error('times are not in order');
    const path = join(this.#directory, `clock-${randomBytes(8).toString('hex')}`);
    const flags = constants.O_RDWR | constants.O_CREAT | constants.O_EXCL;
    const fd = openSync(path, flags, 0o600);
    unlinkSync(path);
    if (fstatSync(fd).dev === statSync(this.#root).dev) return fd;
    closeSync(fd);
    throw new Error('another file system');
  }
}

function touched(fd: number): number {
  // The time of the change is the clock's, whatever times are set.
  futimesSync(fd, 0, 0);
  return fstatSync(fd).ctimeMs;
}
