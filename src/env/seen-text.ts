import type { FileStat, FileSystem } from './fs.js';

type Reads = Pick<FileSystem, 'readTextNow'>;

/** As much as is read again to find out. */
const MOST_BYTES = 64 * 1024;

/**
 * What a file said when it was read without asking which version of it that was: of hundreds of files
 * the facts cost as much as the texts, and mostly nobody wants to know. Whoever does makes it be read
 * once more, and what it says then decides: no clock, and no name that leads elsewhere by now, can make
 * a changed file look like this one.
 */
export class SeenText {
  readonly path: string;
  readonly text: string;
  /** The facts of the open file that was read, where they were asked for then. */
  readonly given: FileStat | undefined;
  readonly #fs: Reads;
  #found: FileStat | 'changed' | undefined;

  constructor(fs: Reads, path: string, read: { readonly text: string; readonly stat?: FileStat }) {
    this.path = path;
    this.text = read.text;
    this.given = read.stat;
    this.#fs = fs;
  }

  /** Of a version of the file that says this; undefined: it says something else, or is gone. */
  facts(): FileStat | undefined {
    if (this.given !== undefined) return this.given;
    this.#found ??= this.factsNow() ?? 'changed';
    return this.#found === 'changed' ? undefined : this.#found;
  }

  /** The facts of the file as it is at this moment, where it says this. */
  factsNow(): FileStat | undefined {
    try {
      const now = this.#fs.readTextNow?.(this.path, { maxBytes: MOST_BYTES, noLink: true });
      return now?.text === this.text ? now.stat : undefined;
    } catch {
      // fail-closed: what cannot be read any more is not what was read.
      return undefined;
    }
  }
}
