import { resolve, toPosix } from '../../platform/fs/paths.js';

/** More than this on one command line is refused by some systems. */
const LONGEST_GLOBS = 100_000;
/** Files checked between two turns of the event loop. */
const FILES_AT_ONCE = 500;

export interface SearchedFiles {
  /** Files that would be searched, relative to `directory`. */
  readonly files: readonly string[];
  readonly directory: string;
  readonly isHidden: (path: string) => Promise<boolean>;
  readonly signal: AbortSignal;
}

/**
 * Globs that keep ripgrep from opening the hidden files of a list: what such a file holds then shows in
 * no result, count, limit or error. A directory without any other file is one glob. Undefined: too many.
 */
export async function excludingGlobs(
  listed: SearchedFiles,
): Promise<readonly string[] | undefined> {
  const { files, directory, isHidden, signal } = listed;
  const hidden: string[] = [];
  /** Directories that hold a file which may be searched, at any depth. */
  const open = new Set<string>();
  for (const [index, file] of files.entries()) {
    if (index % FILES_AT_ONCE === 0) await new Promise((resolve) => setImmediate(resolve));
    signal.throwIfAborted();
    if (await isHidden(resolve(directory, file))) hidden.push(toPosix(file));
    else for (const parent of parentsOf(toPosix(file))) open.add(parent);
  }
  const globs = new Set<string>();
  for (const file of hidden) {
    const shut = parentsOf(file).find((parent) => !open.has(parent));
    globs.add(`--glob=!/${escaped(shut ?? file)}`);
  }
  let length = 0;
  for (const glob of globs) length += glob.length;
  return length > LONGEST_GLOBS ? undefined : [...globs];
}

/** The directories that a relative path lies in, outermost first. */
function parentsOf(path: string): string[] {
  const parents: string[] = [];
  for (let at = path.indexOf('/'); at !== -1; at = path.indexOf('/', at + 1)) {
    parents.push(path.slice(0, at));
  }
  return parents;
}

/** A glob for exactly this path. Bytes that are no UTF-8 came as U+FFFD and may be anything. */
function escaped(path: string): string {
  return path
    .replace(/[\\*?[\]{}]/g, '\\$&')
    .replace(/\s/g, '[$&]')
    .replaceAll('\uFFFD', '*');
}
