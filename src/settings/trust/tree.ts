import { systemCodeOf } from '../../errors.js';
import type { DirectoryEntries, FileSystem } from '../../platform/fs/fs.js';
import { separator } from '../../platform/fs/paths.js';

/**
 * Directories that are not searched for skills, commands and agents, neither by trust nor by their
 * readers: a document that only its reader finds would be used without a question.
 */
export const SKIPPED_DIRECTORIES: ReadonlySet<string> = new Set(['node_modules', '.git']);

/** A larger document is ignored by trust and by its readers. */
export const MAX_DOCUMENT_BYTES = 4 * 1024 * 1024;

export interface Tree {
  /** Files, absolute, in order of their names. */
  readonly files: readonly string[];
  /** There are more entries than the limit. */
  readonly cut: boolean;
  /** Links and directories that cannot be resolved or listed. */
  readonly unreadable: readonly string[];
}

/** A limit, so that a start stays quick. */
const MAX_ENTRIES = 5_000;

type TreeFiles = Pick<FileSystem, 'list' | 'stat' | 'realPath'>;

/**
 * Every file below a directory, but for directories of the names `skipped`. Links to directories are
 * followed, each real directory once.
 */
export async function filesBelow(
  fs: TreeFiles,
  directory: string,
  { skipped = SKIPPED_DIRECTORIES }: { readonly skipped?: ReadonlySet<string> } = {},
): Promise<Tree> {
  const files: string[] = [];
  const unreadable: string[] = [];
  const seen = new Set<string>();
  const open = [directory];
  let entries = 0;
  for (let at = open.pop(); at !== undefined; at = open.pop()) {
    const real = await realPathOrNothing(fs, at);
    const list = real === undefined ? undefined : await listOrNothing(fs, at);
    if (real === undefined || list === undefined) {
      unreadable.push(at);
      continue;
    }
    if (seen.has(real)) continue;
    seen.add(real);
    for (const entry of list) {
      if (++entries > MAX_ENTRIES) return { files, cut: true, unreadable };
      // A name of a list is one step, so that nothing has to be normalised.
      const path = `${at}${separator}${entry.name}`;
      // fail-closed: a link that cannot be resolved may lead others to something.
      const kind = entry.kind === 'symlink' ? await kindBehind(fs, path) : entry.kind;
      if (kind === undefined) unreadable.push(path);
      if (kind === 'file') files.push(path);
      if (kind === 'directory' && !skipped.has(entry.name)) open.push(path);
    }
  }
  return { files: files.sort(), cut: false, unreadable };
}

/** What a link leads to; undefined when that cannot be found out, as in a loop of links. */
async function kindBehind(fs: TreeFiles, link: string): Promise<string | undefined> {
  try {
    return (await fs.stat(link))?.kind ?? 'nothing';
  } catch {
    return undefined;
  }
}

/** Undefined where links form a loop. */
export async function realPathOrNothing(
  fs: Pick<FileSystem, 'realPath'>,
  path: string,
): Promise<string | undefined> {
  try {
    return await fs.realPath(path);
  } catch {
    // fail-closed: the caller treats it as unreadable.
    return undefined;
  }
}

/** Undefined for one that is there and cannot be listed. */
async function listOrNothing(
  fs: TreeFiles,
  directory: string,
): Promise<DirectoryEntries | undefined> {
  try {
    return await fs.list(directory);
  } catch (thrown) {
    const code = systemCodeOf(thrown);
    // fail-closed: only what is not there holds nothing.
    return code === 'ENOENT' || code === 'ENOTDIR' ? [] : undefined;
  }
}
