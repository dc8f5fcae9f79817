import { stampOf } from '../env/file-version.js';
import type { FileStat } from '../env/fs.js';
import { separator } from '../env/paths.js';
import type { Located, Wanted } from './located.js';

/** A file about which there is nothing to resolve or to ask. */
export class PlainFile implements Located {
  readonly wanted: Wanted;
  readonly real: string;
  readonly bytes: number;
  readonly stat: FileStat;
  #stamp: string | undefined;

  constructor(wanted: Wanted, real: string, stat: FileStat) {
    this.wanted = wanted;
    this.real = real;
    this.bytes = stat.size;
    this.stat = stat;
  }

  /** Made when asked for: a rule that waits never is. */
  get stamp(): string {
    this.#stamp ??= stampOf(this.stat);
    return this.#stamp;
  }
}

/** Where a file really is that the list of its directory names. */
export function realPathIn(realDirectory: string, path: string): string {
  return realDirectory + path.slice(path.lastIndexOf(separator));
}

/** fail-closed: what is a link, foreign or large is looked at closely. */
export function isPlainFile({ kind, foreign, size }: FileStat, maxBytes: number): boolean {
  return kind === 'file' && foreign !== true && size <= maxBytes;
}
