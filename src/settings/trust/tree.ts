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

export interface TreeOptions {
  /** Names of directories that are passed over. */
  readonly skipped?: ReadonlySet<string>;
}

type TreeFiles = Pick<FileSystem, 'list' | 'stat' | 'realPath'>;

interface Open {
  readonly at: string;
  readonly real: string;
}

/** Every file below a directory. Links to directories are followed, each real directory once. */
export async function filesBelow(
  fs: TreeFiles,
  directory: string,
  { skipped = SKIPPED_DIRECTORIES }: TreeOptions = {},
): Promise<Tree> {
  const files: string[] = [];
  const unreadable: string[] = [];
  const seen = new Set<string>();
  const top = await realPathOrNothing(fs, directory);
  if (top === undefined) return { files, cut: false, unreadable: [directory] };
  const open: Open[] = [{ at: directory, real: top }];
  let entries = 0;
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    const { at, real } = next;
    if (seen.has(real)) continue;
    seen.add(real);
    const list = await listOrNothing(fs, at);
    if (list === undefined) unreadable.push(at);
    for (const entry of list ?? []) {
      if (++entries > MAX_ENTRIES) return { files, cut: true, unreadable };
      // A name of a list is one step, so that nothing has to be normalised.
      const full = `${at}${separator}${entry.name}`;
      if (entry.kind === 'symlink') {
        const target = await targetOf(fs, full);
        if (target === undefined) unreadable.push(full);
        else if (target.kind === 'directory' && !skipped.has(entry.name)) {
          open.push({ at: full, real: target.real });
        } else if (target.kind === 'file') files.push(full);
      } else if (entry.kind === 'directory') {
        // Below a directory whose real path is known only links lead elsewhere.
        const inside = `${real}${separator}${entry.name}`;
        if (!skipped.has(entry.name)) open.push({ at: full, real: inside });
      } else if (entry.kind === 'file') files.push(full);
    }
  }
  return { files: files.sort(), cut: false, unreadable };
}

/** What a link leads to; undefined when that cannot be found out, as in a loop of links. */
async function targetOf(
  fs: TreeFiles,
  link: string,
): Promise<{ readonly kind: string; readonly real: string } | undefined> {
  try {
    const kind = (await fs.stat(link))?.kind ?? 'nothing';
    return { kind, real: kind === 'directory' ? await fs.realPath(link) : link };
  } catch {
    // fail-closed: the caller takes it for something that might be read by others.
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
