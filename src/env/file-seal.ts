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
  /**
   * Where files had just been written, whose times prove nothing: what each of them begins with, which is
   * all of it that counts. The others, empty here, are known by their facts.
   */
  readonly begins?: readonly string[];
}

/** Something in a sealed directory, and what was seen of it before it was read or listed. */
export interface SeenPlace {
  /** From the directory on. */
  readonly path: string;
  readonly stat: FileStat;
}

/** A file that was read: of its text nothing but the beginning counts, as long as it is a text. */
export interface SeenBeginning {
  readonly path: string;
  readonly begins: string;
}

export interface SeenPlaces {
  readonly real: string;
  readonly folders: readonly SeenPlace[];
  readonly files: readonly (SeenPlace | SeenBeginning)[];
}

const EACH = 4;
const NO_FACTS: readonly number[] = [0, 0, 0, 0];

/** Undefined for what might change without a sign. `at`: when it was looked at. */
export function sealOf({ real, folders, files }: SeenPlaces, at: number): FileSeal | undefined {
  const device = folders[0]?.stat.device;
  if (device === undefined) return undefined;
  const facts: number[] = [];
  const begins: string[] = [];
  for (const place of [...folders, ...files]) {
    if ('begins' in place) {
      // fail-closed: with nothing to compare every text would do.
      if (place.begins === '') return undefined;
      facts.push(...NO_FACTS);
      continue;
    }
    const { stat } = place;
    const { inode, size, mtimeMs, ctimeMs } = stat;
    // fail-closed: what is new, or cannot be told from another file, is looked at each time.
    if (inode === undefined || ctimeMs === undefined) return undefined;
    if (stat.device !== device || !isSettled(stat, at)) return undefined;
    facts.push(inode, size, mtimeMs, ctimeMs);
  }
  for (const file of files) begins.push('begins' in file ? file.begins : '');
  const seal = { real, device, folders: folders.map(pathOf), files: files.map(pathOf), facts };
  return begins.every((one) => one === '') ? seal : { ...seal, begins };
}

/** fail-closed: what is of another shape, cannot be looked at, or is different in any way is broken. */
export async function isUnbroken(
  fs: SealFiles & Pick<FileSystem, 'realPath'>,
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

type SealFiles = Pick<FileSystem, 'lstatNow' | 'readSmallNow'>;

function standsAs(fs: SealFiles, directory: string, seal: FileSeal): boolean {
  const { folders, files, device, facts, begins } = seal;
  // Counted, as there are hundreds at every start, and an iterator makes an object for each.
  for (let at = 0; at < folders.length; at++) {
    const folder = folders[at];
    const path = folder === '' ? directory : `${directory}${separator}${folder}`;
    const stat = fs.lstatNow?.(path);
    if (stat?.kind !== 'directory' || !isAs(stat, facts, at) || stat.device !== device)
      return false;
  }
  for (let at = 0; at < files.length; at++) {
    const path = `${directory}${separator}${files[at]}`;
    const beginning = begins?.[at] ?? '';
    if (beginning !== '') {
      if (!beginsWith(fs, path, beginning)) return false;
      continue;
    }
    const stat = fs.lstatNow?.(path);
    if (stat?.kind !== 'file' || !isAs(stat, facts, folders.length + at)) return false;
    if (stat.device !== device) return false;
  }
  return true;
}

/** fail-closed: a link, a large file and one that is no text are read by somebody who looks closer. */
function beginsWith(fs: SealFiles, path: string, beginning: string): boolean {
  const text = fs.readSmallNow?.(path);
  return text?.startsWith(beginning) === true && !text.includes('\0');
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

function pathOf({ path }: SeenPlace | SeenBeginning): string {
  return path;
}

function isSeal(value: unknown): value is FileSeal {
  const { real, device, folders, files, facts, begins } = (value ?? {}) as Partial<FileSeal>;
  return (
    typeof real === 'string' &&
    typeof device === 'number' &&
    Array.isArray(folders) &&
    folders[0] === '' &&
    Array.isArray(files) &&
    Array.isArray(facts) &&
    facts.length === (folders.length + files.length) * EACH &&
    (begins === undefined || isTextOfEach(files, begins))
  );
}

function isTextOfEach(files: readonly unknown[], begins: unknown): boolean {
  return (
    Array.isArray(begins) &&
    begins.length === files.length &&
    begins.every((one) => typeof one === 'string')
  );
}
