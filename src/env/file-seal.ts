import { isSettled } from './file-version.js';
import type { FileStat, FileSystem } from './fs.js';
import { separator } from './paths.js';

/**
 * A directory, and what in it something was made of, as it all stood then. What was made is good for as
 * long as all of it still stands so, and to see that is quicker than to make it again: there are numbers
 * in it and nothing else. For what is shown, as all that is remembered of files.
 */
export interface FileSeal {
  /** Where the directory is behind all links. */
  readonly real: string;
  readonly device: number;
  /** Directories whose names count, by their paths from there on; the directory itself is the empty one. */
  readonly folders: readonly string[];
  /** Files whose texts count. */
  readonly files: readonly string[];
  /** Of all folders, then of all files: inode, size, last write and last change of each. */
  readonly facts: readonly number[];
}

/** Something in a sealed directory, and what was seen of it before it was read or listed. */
export interface SeenPlace {
  /** From the directory on. */
  readonly path: string;
  readonly stat: FileStat;
}

export interface SeenPlaces {
  readonly real: string;
  readonly folders: readonly SeenPlace[];
  readonly files: readonly SeenPlace[];
}

const EACH = 4;

/** Undefined for what might change without a sign. `at`: when it was looked at. */
export function sealOf({ real, folders, files }: SeenPlaces, at: number): FileSeal | undefined {
  const device = folders[0]?.stat.device;
  if (device === undefined) return undefined;
  const facts: number[] = [];
  for (const { stat } of [...folders, ...files]) {
    const { inode, size, mtimeMs, ctimeMs } = stat;
    // fail-closed: what is new, or cannot be told from another file, is looked at each time.
    if (inode === undefined || ctimeMs === undefined) return undefined;
    if (stat.device !== device || !isSettled(stat, at)) return undefined;
    facts.push(inode, size, mtimeMs, ctimeMs);
  }
  return { real, device, folders: folders.map(pathOf), files: files.map(pathOf), facts };
}

/** fail-closed: what is of another shape, cannot be looked at, or is different in any way is broken. */
export async function isUnbroken(
  fs: Pick<FileSystem, 'lstatNow' | 'realPath'>,
  directory: string,
  seal: unknown,
): Promise<boolean> {
  if (!isSeal(seal)) return false;
  try {
    // A link in its place may lead to the same files from where nobody expects them.
    return (await fs.realPath(directory)) === seal.real && standsAs(fs, directory, seal);
  } catch {
    return false;
  }
}

function standsAs(fs: Pick<FileSystem, 'lstatNow'>, directory: string, seal: FileSeal): boolean {
  const { folders, files, device, facts } = seal;
  // Counted, as there are hundreds at every start, and an iterator makes an object for each.
  for (let at = 0; at < folders.length; at++) {
    const folder = folders[at];
    const path = folder === '' ? directory : `${directory}${separator}${folder}`;
    const stat = fs.lstatNow?.(path);
    if (stat?.kind !== 'directory' || !isAs(stat, facts, at) || stat.device !== device)
      return false;
  }
  for (let at = 0; at < files.length; at++) {
    const stat = fs.lstatNow?.(`${directory}${separator}${files[at]}`);
    if (stat?.kind !== 'file' || !isAs(stat, facts, folders.length + at)) return false;
    if (stat.device !== device) return false;
  }
  return true;
}

function isAs(stat: FileStat, facts: readonly number[], place: number): boolean {
  const at = place * EACH;
  return (
    stat.inode === facts[at] &&
    stat.size === facts[at + 1] &&
    stat.mtimeMs === facts[at + 2] &&
    stat.ctimeMs === facts[at + 3]
  );
}

function pathOf({ path }: SeenPlace): string {
  return path;
}

function isSeal(value: unknown): value is FileSeal {
  const { real, device, folders, files, facts } = (value ?? {}) as Partial<FileSeal>;
  return (
    typeof real === 'string' &&
    typeof device === 'number' &&
    Array.isArray(folders) &&
    folders[0] === '' &&
    Array.isArray(files) &&
    Array.isArray(facts) &&
    facts.length === (folders.length + files.length) * EACH
  );
}
