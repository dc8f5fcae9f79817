import type { FileStat } from './fs.js';

/** fail-closed: a file of which anything is different has another stamp, and may say something else. */
export function isSameVersion(one: FileStat, other: FileStat): boolean {
  return (
    one.ctimeMs === other.ctimeMs &&
    one.mtimeMs === other.mtimeMs &&
    one.size === other.size &&
    one.inode === other.inode &&
    one.device === other.device
  );
}

/** Changes whenever the content does. */
export function stampOf({ mtimeMs, size, ctimeMs, inode, device }: FileStat): string {
  return `${mtimeMs} ${size} ${ctimeMs} ${inode} ${device}`;
}
