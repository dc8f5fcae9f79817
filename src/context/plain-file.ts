import type { FileStat } from '../env/fs.js';
import type { Located, Wanted } from './instruction-reader.js';

/** A file about which there is nothing to resolve or to ask. */
export class PlainFile implements Located {
  readonly wanted: Wanted;
  readonly real: string;
  readonly bytes: number;
  readonly stat: FileStat;

  constructor(wanted: Wanted, real: string, stat: FileStat) {
    this.wanted = wanted;
    this.real = real;
    this.bytes = stat.size;
    this.stat = stat;
  }

  /** Made when asked for: a rule that waits never is. */
  get stamp(): string {
    return stampOf(this.stat);
  }
}

/** fail-closed: what is a link, foreign or large is looked at closely. */
export function isPlainFile({ kind, foreign, size }: FileStat, maxBytes: number): boolean {
  return kind === 'file' && foreign !== true && size <= maxBytes;
}

/** Changes whenever the content does. */
export function stampOf({ mtimeMs, size, ctimeMs, inode, device }: FileStat): string {
  return `${mtimeMs} ${size} ${ctimeMs} ${inode} ${device}`;
}
