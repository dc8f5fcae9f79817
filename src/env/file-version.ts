import type { FileStat } from './fs.js';
import { SeenText } from './seen-text.js';

/** Which version of a file something is about: by its facts, or by what it said. */
export type FileVersion = FileStat | SeenText;

/** fail-closed: a file of which anything is different has another stamp, and may say something else. */
export function isSameVersion(one: FileVersion, other: FileVersion): boolean {
  if (one === other) return true;
  const first = factsOf(one);
  const second = factsOf(other);
  return (
    first !== undefined &&
    second !== undefined &&
    first.ctimeMs === second.ctimeMs &&
    first.mtimeMs === second.mtimeMs &&
    first.size === second.size &&
    first.inode === second.inode &&
    first.device === second.device
  );
}

/**
 * Whether a text that was just read is of that version, by the facts of the file behind the reading. A
 * version that is known by its text is that text: the file may have said something else for a moment.
 */
export function isTextOf(version: FileVersion, text: string, now: FileStat | undefined): boolean {
  if (version instanceof SeenText) return version.text === text;
  return now !== undefined && isSameVersion(now, version);
}

function factsOf(version: FileVersion): FileStat | undefined {
  return version instanceof SeenText ? version.facts() : version;
}

/** A change this soon after another may leave the same times, where the clock of files is coarse. */
const SETTLED_MS = 2_000;

/** fail-closed: times of the last moments before somebody looked, and of the future, prove nothing. */
export function isSettled({ mtimeMs, ctimeMs }: FileStat, looked: number): boolean {
  return ctimeMs !== undefined && looked - Math.max(mtimeMs, ctimeMs) > SETTLED_MS;
}

/** Changes whenever the content does. */
export function stampOf({ mtimeMs, size, ctimeMs, inode, device }: FileStat): string {
  return `${mtimeMs} ${size} ${ctimeMs} ${inode} ${device}`;
}
