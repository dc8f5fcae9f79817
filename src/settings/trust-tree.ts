import { type FileMemory, NO_MEMORY } from '../env/file-memory.js';
import type { FileSystem } from '../env/fs.js';
import { separator } from '../env/paths.js';
import { rememberedList, rememberedNow } from '../env/remembered-list.js';

export interface Tree {
  /** Files, absolute, in order of their names. */
  readonly files: readonly string[];
  /** Those among them that are links. */
  readonly links: ReadonlySet<string>;
  /** There is more than is ever looked at. */
  readonly cut: boolean;
}

/** More entries than any project needs; a limit, so that a start stays quick. */
const MOST_ENTRIES = 5_000;
/** Libraries and repositories inside of a skill hold no skills. */
const SKIPPED = new Set(['node_modules', '.git']);

export interface TreeOptions {
  /** Names of directories that are passed over. */
  readonly skipped?: ReadonlySet<string>;
  /** Absent: every directory is listed. */
  readonly memory?: FileMemory | undefined;
}

/** Every file below a directory. Links to directories are followed, each real directory once. */
export async function filesBelow(
  fs: Pick<FileSystem, 'list' | 'stat' | 'statNow' | 'realPath'>,
  directory: string,
  { skipped = SKIPPED, memory = NO_MEMORY }: TreeOptions = {},
): Promise<Tree> {
  const files: string[] = [];
  const links = new Set<string>();
  const seen = new Set<string>();
  const open = [{ at: directory, real: await fs.realPath(directory) }];
  let entries = 0;
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    const { at, real } = next;
    if (seen.has(real)) continue;
    seen.add(real);
    const list = rememberedNow(fs, at, memory) ?? (await listOrNothing(fs, at, memory));
    for (const entry of list) {
      if (++entries > MOST_ENTRIES) return { files, links, cut: true };
      // A name of a list is one step, so that nothing has to be normalised.
      const full = `${at}${separator}${entry.name}`;
      const isLink = entry.kind === 'symlink';
      const kind = isLink ? (await fs.stat(full))?.kind : entry.kind;
      if (kind === 'directory' && !skipped.has(entry.name)) {
        // Below a directory whose real path is known only links lead elsewhere.
        const inside = `${real}${separator}${entry.name}`;
        open.push({ at: full, real: isLink ? await fs.realPath(full) : inside });
      } else if (kind === 'file') {
        files.push(full);
        if (isLink) links.add(full);
      }
    }
  }
  return { files: files.sort(), links, cut: false };
}

async function listOrNothing(
  fs: Pick<FileSystem, 'list' | 'stat' | 'statNow'>,
  directory: string,
  memory: FileMemory,
): ReturnType<FileSystem['list']> {
  try {
    return memory === NO_MEMORY
      ? await fs.list(directory)
      : await rememberedList(fs, directory, memory);
  } catch {
    // Not there, or not readable: then nothing in it can be loaded either.
    return [];
  }
}
