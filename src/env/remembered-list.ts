import type { FileMemory } from './file-memory.js';
import type { FileStat, FileSystem } from './fs.js';

type Entries = Awaited<ReturnType<FileSystem['list']>>;

type Listing = Pick<FileSystem, 'list' | 'stat' | 'statNow'>;

/** The entries of a directory: those of last time where the directory has not changed since. */
export async function rememberedList(
  fs: Listing,
  directory: string,
  memory: FileMemory,
): Promise<Entries> {
  const stat = await fs.stat(directory);
  if (stat?.kind !== 'directory') return await fs.list(directory);
  const known = entriesFrom(memory.recall(LIST, directory, stat));
  if (known !== undefined) return known;
  const entries = await fs.list(directory);
  memory.note(
    LIST,
    directory,
    stat,
    entries.map(({ name, kind }) => `${kind.charAt(0)}${name}`),
  );
  return entries;
}

/** The same at once, where it is known; undefined when it has to be listed. */
export function rememberedNow(
  fs: Listing,
  directory: string,
  memory: FileMemory,
): Entries | undefined {
  try {
    const stat = fs.statNow?.(directory);
    if (stat?.kind !== 'directory') return undefined;
    return entriesFrom(memory.recall(LIST, directory, stat));
  } catch {
    // Whoever lists it is told why it cannot be looked at.
    return undefined;
  }
}

const LIST = 'list';
const KINDS: ReadonlyMap<string, FileStat['kind']> = new Map(
  (['file', 'directory', 'symlink', 'other'] as const).map((kind) => [kind.charAt(0), kind]),
);

/** fail-closed: a list with anything odd in it is none. */
function entriesFrom(value: unknown): Entries | undefined {
  if (!Array.isArray(value)) return undefined;
  const entries: Entries[number][] = [];
  for (const one of value) {
    const kind = typeof one === 'string' ? KINDS.get(one.charAt(0)) : undefined;
    if (kind === undefined) return undefined;
    entries.push({ name: (one as string).slice(1), kind });
  }
  return entries;
}
