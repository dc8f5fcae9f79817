import { systemCodeOf } from '../../errors.js';
import type { DirectoryEntries, FileSystem } from '../../platform/fs/fs.js';
import { separator } from '../../platform/fs/paths.js';

/**
 * Directories skipped by trust and by all document readers alike; otherwise a reader could use an unreviewed
 * document.
 */
export const SKIPPED_DIRECTORIES: ReadonlySet<string> = new Set(['node_modules', '.git']);

/** Larger documents are ignored by trust and by their readers. */
export const MAX_DOCUMENT_BYTES = 4 * 1024 * 1024;

interface Tree {
  /** Absolute paths, sorted. */
  readonly files: readonly string[];
  /** The limit was exceeded. */
  readonly cut: boolean;
  /** Unresolvable links and unreadable directories. */
  readonly unreadable: readonly string[];
}

/** Keeps the start fast. */
const MAX_ENTRIES = 5_000;

type TreeFiles = Pick<FileSystem, 'list' | 'stat' | 'realPath'>;

/** The files below a directory, without `skipped` ones; follows links, each real directory once. */
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
      // An entry name is one step, so the path needs no normalising.
      const path = `${at}${separator}${entry.name}`;
      // fail-closed: another program may be able to resolve the link.
      const kind = entry.kind === 'symlink' ? await kindBehind(fs, path) : entry.kind;
      if (kind === undefined) unreadable.push(path);
      if (kind === 'file') files.push(path);
      if (kind === 'directory' && !skipped.has(entry.name)) open.push(path);
    }
  }
  return { files: files.sort(), cut: false, unreadable };
}

/** The kind of a link's target; undefined when unresolvable. */
async function kindBehind(fs: TreeFiles, link: string): Promise<string | undefined> {
  try {
    return (await fs.stat(link))?.kind ?? 'nothing';
  } catch {
    return undefined;
  }
}

/** Undefined for a loop of links. */
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

/** Undefined for an existing directory that is unreadable. */
async function listOrNothing(
  fs: TreeFiles,
  directory: string,
): Promise<DirectoryEntries | undefined> {
  try {
    return await fs.list(directory);
  } catch (thrown) {
    const code = systemCodeOf(thrown);
    // fail-closed: only a missing directory counts as empty.
    return code === 'ENOENT' || code === 'ENOTDIR' ? [] : undefined;
  }
}
