import type { DirectoryEntries, FileStat } from '../../platform/fs/fs.js';
import { COPIES, treeBudget } from '../gate/budget.js';
import type { PathFileSystem } from '../paths/paths.js';
import { PROTECTED_NAMES } from './protected-paths.js';

interface TwinPlace {
  readonly disk: Pick<PathFileSystem, 'list' | 'lstat'>;
  /** Gone through for protected names at any depth. */
  readonly roots: readonly string[];
  readonly home: string;
  /** Our own directories: all in them is protected. */
  readonly own: readonly string[];
}

/** `doubt`: not all of this could be compared. */
type Twin =
  | { readonly of: FileStat; readonly path: string }
  | { readonly of?: never; readonly doubt: string };

/**
 * A protected file that one of these files with several names (hard links) is another name of: what is
 * written to the one is in the other. In the home only what lies directly in it counts as a place, and
 * in those what is near: caches of programs are large.
 */
export async function protectedTwin(
  files: readonly FileStat[],
  { disk, roots, home, own }: TwinPlace,
  isHeld: (path: string) => boolean,
): Promise<Twin | undefined> {
  const wanted = new Map(files.map((file) => [keyOf(file), file]));
  const budget = treeBudget();
  const queue: Place[] = [
    ...own.map((directory) => ({ directory, isHeld: true, depth: DEEPEST_OWN })),
    { directory: home, isHeld: false, depth: 1 + DEEPEST_IN_HOME, isFlat: true },
    ...roots.map((directory) => ({ directory, isHeld: false, depth: Number.POSITIVE_INFINITY })),
  ];
  let doubt: Twin | undefined;
  for (let place = queue.shift(); place !== undefined; place = queue.shift()) {
    const entries = await entriesOf(place.directory, disk);
    // fail-closed: among files that cannot be looked at may be this one.
    if (entries === undefined) doubt ??= { doubt: place.directory };
    for (const { name, kind } of entries ?? []) {
      const path = `${place.directory === '/' ? '' : place.directory}/${name}`;
      const isKept = isWithin(place, name) || mayBeHeld(name, { isFile: kind === 'file' });
      if (kind === 'directory') {
        if (goesInto(place, { name, isKept }))
          queue.push({ directory: path, isHeld: isKept, depth: place.depth - 1 });
      } else if (kind === 'file' && isKept && isHeld(path)) {
        const stat = await disk.lstat(path).catch(() => 'unseen' as const);
        const of = stat === 'unseen' || stat === undefined ? undefined : wanted.get(keyOf(stat));
        if (of !== undefined) return { of, path };
        if (stat === 'unseen') doubt ??= { doubt: path };
      }
    }
    budget.entries -= entries?.length ?? 0;
    if (budget.entries < 0 || performance.now() > budget.until) return { doubt: place.directory };
  }
  return doubt;
}

interface Place {
  readonly directory: string;
  /** It is inside of something protected. */
  readonly isHeld: boolean;
  /** How much further down. */
  readonly depth: number;
  /** Of what is in it only protected names count. */
  readonly isFlat?: true;
}

/** Our own directories hold sessions, of which there may be many. */
const DEEPEST_OWN = 4;
const DEEPEST_IN_HOME = 3;
/** What git keeps by its content: nobody runs or trusts it by name, and clones share it by hard links. */
const CONTENT = new Set(['objects', 'lfs']);

function goesInto({ depth, directory, isFlat }: Place, of: { name: string; isKept: boolean }) {
  if (depth <= 1 || (isFlat === true && !of.isKept)) return false;
  if (CONTENT.has(of.name) && /[/\\]\.git$/.test(directory)) return false;
  return of.isKept || !COPIES.has(of.name);
}

function keyOf({ device, inode }: FileStat): string {
  return `${device} ${inode}`;
}

/** Working trees of agents are projects like others. */
function isWithin({ isHeld, directory }: Place, name: string): boolean {
  return isHeld && !(name === 'worktrees' && /[/\\]\.claude$/.test(directory));
}

/** By its own name; `.config` holds some. */
function mayBeHeld(name: string, { isFile }: { isFile: boolean }): boolean {
  const folded = name.toLowerCase();
  if (!isFile) return PROTECTED_NAMES.directories.has(folded) || folded === '.config';
  return PROTECTED_NAMES.files.has(folded) || folded.endsWith('.code-workspace');
}

/** Undefined: it is there and cannot be listed. */
async function entriesOf(
  directory: string,
  disk: TwinPlace['disk'],
): Promise<DirectoryEntries | undefined> {
  try {
    return await disk.list(directory);
  } catch {
    const stat = await disk.lstat(directory).catch(() => 'unseen' as const);
    return stat === undefined || (stat !== 'unseen' && stat.kind !== 'directory') ? [] : undefined;
  }
}
