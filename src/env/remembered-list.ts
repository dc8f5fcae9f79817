import type { FileMemory } from './file-memory.js';
import type { DirectoryEntries, FileStat, FileSystem } from './fs.js';

type Entries = DirectoryEntries;

type Listing = Pick<FileSystem, 'list' | 'listNow' | 'stat' | 'statNow'>;

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
  return noted(await fs.list(directory), { directory, stat, memory });
}

/** The same at once, where the file system can; undefined: list it, and hear why it cannot be listed. */
export function rememberedNow(
  fs: Listing,
  directory: string,
  memory: FileMemory,
): Entries | undefined {
  try {
    if (fs.statNow === undefined || fs.listNow === undefined) return undefined;
    const stat = fs.statNow(directory);
    // Asking first is cheaper than an exception for each directory that is not there.
    if (stat === undefined) return [];
    if (stat.kind !== 'directory') return undefined;
    const known = entriesFrom(memory.recall(LIST, directory, stat));
    if (known !== undefined) return known;
    return noted(fs.listNow(directory), { directory, stat, memory });
  } catch {
    // Whoever lists it is told why it cannot be looked at.
    return undefined;
  }
}

function noted(
  entries: Entries,
  at: { readonly directory: string; readonly stat: FileStat; readonly memory: FileMemory },
): Entries {
  const said = entries.map(({ name, kind }) => `${kind.charAt(0)}${name}`);
  at.memory.note(LIST, at.directory, at.stat, said);
  return entries;
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
