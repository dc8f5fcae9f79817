import { systemCodeOf } from '../../errors.js';
import type { DirectoryEntries, FileSystem } from '../../platform/fs/fs.js';
import { separator } from '../../platform/fs/paths.js';
import { PASSED_OVER } from './names.js';

export interface Tree {
  /** Files, absolute, in order of their names. */
  readonly files: readonly string[];
  /** There is more than is ever looked at. */
  readonly cut: boolean;
  /** What is there and cannot be looked at: loops of directories that may not be listed. */
  readonly unreadable: readonly string[];
}

/** More entries than any project needs; a limit, so that a start stays quick. */
const MOST_ENTRIES = 5_000;

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
  { skipped = PASSED_OVER }: TreeOptions = {},
): Promise<Tree> {
  const files: string[] = [];
  const unreadable: string[] = [];
  const seen = new Set<string>();
  const top = await realOrNothing(fs, directory);
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
      if (++entries > MOST_ENTRIES) return { files, cut: true, unreadable };
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

async function realOrNothing(fs: TreeFiles, path: string): Promise<string | undefined> {
  try {
    return await fs.realPath(path);
  } catch {
    // fail-closed: as above.
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
