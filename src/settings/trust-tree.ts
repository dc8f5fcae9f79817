import type { FileSystem } from '../env/fs.js';
import { join } from '../env/paths.js';

export interface Tree {
  /** Files, absolute, in order of their names. */
  readonly files: readonly string[];
  /** There is more than is ever looked at. */
  readonly cut: boolean;
}

/** More entries than any project needs; a limit, so that a start stays quick. */
const MOST_ENTRIES = 5_000;
/** Libraries and repositories inside of a skill hold no skills. */
const SKIPPED = new Set(['node_modules', '.git']);

/** Every file below a directory. Links to directories are followed, each real directory once. */
export async function filesBelow(
  fs: Pick<FileSystem, 'list' | 'stat' | 'realPath'>,
  directory: string,
  { skipped = SKIPPED }: { readonly skipped?: ReadonlySet<string> } = {},
): Promise<Tree> {
  const files: string[] = [];
  const seen = new Set<string>();
  const open = [{ at: directory, real: await fs.realPath(directory) }];
  let entries = 0;
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    const { at, real } = next;
    if (seen.has(real)) continue;
    seen.add(real);
    for (const entry of await listOrNothing(fs, at)) {
      if (++entries > MOST_ENTRIES) return { files, cut: true };
      const full = join(at, entry.name);
      const isLink = entry.kind === 'symlink';
      const kind = isLink ? (await fs.stat(full))?.kind : entry.kind;
      if (kind === 'directory' && !skipped.has(entry.name)) {
        // Below a directory whose real path is known only links lead elsewhere.
        open.push({ at: full, real: isLink ? await fs.realPath(full) : join(real, entry.name) });
      } else if (kind === 'file') files.push(full);
    }
  }
  return { files: files.sort(), cut: false };
}

async function listOrNothing(
  fs: Pick<FileSystem, 'list'>,
  directory: string,
): ReturnType<FileSystem['list']> {
  try {
    return await fs.list(directory);
  } catch {
    // Not there, or not readable: then nothing in it can be loaded either.
    return [];
  }
}
