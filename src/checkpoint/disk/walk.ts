import { lstatSync, readdirSync, readlinkSync, realpathSync } from 'node:fs';
import { systemCodeOf } from '../../errors.js';
import { dirname, isInside, join, normalise, relative, resolve } from '../../platform/fs/paths.js';
import { Turns } from '../../platform/turns.js';
import type { TreeIgnore } from './ignore.js';
import {
  type EntryStat,
  entryStat,
  isSameEntry,
  type KnownTree,
  nodeOf,
  type Observation,
  parentOf,
  type TreeNode,
} from './known-tree.js';

export interface WalkContext {
  /** Absolute, without links. */
  readonly root: string;
  readonly tree: KnownTree;
  readonly ignore: TreeIgnore;
  /** Entries from which on the walk is given up. */
  readonly maxEntries: number;
  /** When the last walk began; what was made before it was there, though it may have been left out. */
  readonly lastWalkAt: number;
  /** Rises with every walk. */
  readonly number: number;
}

export interface Walked {
  /** What has come or changed, directories before what is in them. */
  readonly observations: readonly Observation[];
  /** Known paths where nothing stands any more, the deepest first. */
  readonly gone: readonly string[];
  /** Why it does not show everything, for a person. */
  readonly gaps: readonly string[];
  /** The root itself cannot be read. */
  readonly isClosed: boolean;
  /** The walk was given up. */
  readonly isTooMuch: boolean;
}

/** How many entries are looked at between two looks at the clock. */
const CLOCK_EVERY = 64;

/** Goes through the tree with `readdir` and `lstat`, in short stretches. Nothing is opened or followed. */
export async function walkTree(context: WalkContext): Promise<Walked> {
  const { root, tree, ignore, maxEntries, number } = context;
  const walk = new Walk(context);
  const stat = statOf(root);
  if (stat === undefined || stat === 'refused') {
    walk.gaps.unreadable.push('');
    return walk.result([]);
  }
  ignore.refreshAbove();
  walk.gaps.rules.push(...ignore.changedAbove());
  const directories: Directory[] = [{ path: '', wasOut: false }];
  const turns = new Turns();
  let entries = 0;
  for (let at = directories.pop(); at !== undefined; at = directories.pop()) {
    for (const name of walk.names(at)) {
      const deeper = walk.entry(at, name, stat.dev);
      if (deeper !== undefined) directories.push(deeper);
      if (++entries % CLOCK_EVERY === 0) await turns.pause();
    }
    if (entries > maxEntries) return { ...walk.result([]), isTooMuch: true };
    await turns.pause();
  }
  const known = tree.get('');
  if (known !== undefined && known.mode !== stat.mode) {
    walk.gaps.rootModes.push(`${known.mode.toString(8)} to ${stat.mode.toString(8)}`);
  }
  tree.set('', nodeOf(stat, number));
  return walk.result(walk.gone());
}

/** A directory to go into. */
interface Directory {
  readonly path: string;
  /** It was left out by the rules from before this walk. */
  readonly wasOut: boolean;
}

class Walk {
  readonly gaps = {
    unreadable: [] as string[],
    noText: [] as string[],
    mounts: [] as string[],
    adopted: [] as string[],
    rules: [] as string[],
    rootModes: [] as string[],
  };
  readonly #context: WalkContext;
  readonly #observations: Observation[] = [];
  /** What was known below these is neither there nor gone: it stays as it was. */
  readonly #closed = new Set<string>();

  constructor(context: WalkContext) {
    this.#context = context;
  }

  result(gone: readonly string[]): Walked {
    const isClosed = this.gaps.unreadable.includes('');
    const gaps = gapTexts(this.gaps);
    return { observations: this.#observations, gone, gaps, isClosed, isTooMuch: false };
  }

  names({ path }: Directory): string[] {
    const { root, ignore } = this.#context;
    ignore.refresh(path);
    try {
      return readdirSync(path === '' ? root : `${root}/${path}`);
    } catch (thrown) {
      const code = systemCodeOf(thrown);
      if (code !== 'ENOENT' && code !== 'ENOTDIR') this.gaps.unreadable.push(path);
      this.#closed.add(path);
      return [];
    }
  }

  /** Observes what differs; gives the directory to go into where it is one. */
  entry(inside: Directory, name: string, rootDevice: number | undefined): Directory | undefined {
    const { root, tree, ignore, number } = this.#context;
    const path = inside.path === '' ? name : `${inside.path}/${name}`;
    const node = tree.get(path);
    if (node === undefined && ignore.isNever(path, name)) return undefined;
    const stat = statOf(`${root}/${path}`);
    if (stat === undefined) {
      // A name that cannot be found again is not valid UTF-8.
      if (node === undefined && name.includes('\ufffd')) this.gaps.noText.push(inside.path);
      return undefined;
    }
    if (stat === 'refused') {
      // Its names can be listed, but nothing in it can be reached.
      this.gaps.unreadable.push(inside.path);
      this.#closed.add(path);
      return undefined;
    }
    const isDirectory = stat.kind === 'directory';
    // What is tracked stays tracked, also when a rule comes to leave it out.
    const judgement =
      node === undefined ? ignore.judge(path, isDirectory, inside.wasOut) : 'tracked';
    if (judgement === 'left-out') return undefined;
    if (node !== undefined) node.walk = number;
    const wasOut = judgement === 'uncovered';
    this.#compare(path, node, stat, wasOut);
    if (!isDirectory) return undefined;
    if (stat.dev === rootDevice) return { path, wasOut };
    this.gaps.mounts.push(path);
    this.#closed.add(path);
    return undefined;
  }

  /** Known paths that this walk did not come upon. */
  gone(): string[] {
    const { tree, number } = this.#context;
    const gone: string[] = [];
    for (const [path, node] of tree) {
      if (node.walk !== number && !this.#isClosed(path)) gone.push(path);
    }
    return gone.reverse();
  }

  #isClosed(path: string): boolean {
    if (this.#closed.size === 0) return false;
    for (let at = path; at !== ''; at = parentOf(at)) if (this.#closed.has(at)) return true;
    return this.#closed.has('');
  }

  #compare(path: string, node: TreeNode | undefined, stat: EntryStat, wasOut: boolean): void {
    if (node !== undefined && !node.isRacy && isSameEntry(node, stat)) return;
    if (node?.state.kind === 'directory' && stat.kind === 'directory' && node.mode === stat.mode) {
      // Something in it has changed, which is observed there.
      node.ctime = stat.ctime;
      node.ino = stat.ino;
      return;
    }
    const isAdopted = wasOut && this.#wasThere(path);
    if (isAdopted) this.gaps.adopted.push(path);
    const whole = withTarget(`${this.#context.root}/${path}`, stat);
    this.#observations.push({ path, stat: whole, isAdopted });
  }

  #wasThere(path: string): boolean {
    const stat = lstatSync(`${this.#context.root}/${path}`, { throwIfNoEntry: false });
    if (stat === undefined) return false;
    const madeAt = stat.birthtimeMs > 0 ? stat.birthtimeMs : stat.ctimeMs;
    return madeAt < this.#context.lastWalkAt;
  }
}

const GAPS = {
  unreadable: 'cannot be read',
  noText: 'holds names that are no text (UTF-8), which are not followed',
  mounts: 'is another file system, which is not followed',
  adopted: 'was left out until an ignore rule changed: what stood there before is not known',
  rules: 'has changed, and is not followed itself: it says what is left out from now on',
  rootModes: '',
  excluded: 'holds our own files, which are not followed',
} as const;
const MOST_NAMED = 3;

/** Why a walk does not show everything, for a person. */
export function gapTexts(gaps: Partial<Record<keyof typeof GAPS, readonly string[]>>): string[] {
  return Object.entries(gaps).flatMap(([kind, paths]) => {
    if (kind === 'rootModes') {
      return paths.map((modes) => `the mode of the directory itself changed from ${modes}`);
    }
    const all = [...new Set(paths)];
    if (all.length === 0) return [];
    const named = all.slice(0, MOST_NAMED).map((path) => JSON.stringify(path === '' ? '.' : path));
    const rest = all.length > MOST_NAMED ? ` and ${all.length - MOST_NAMED} more` : '';
    return [`${named.join(', ')}${rest}: ${GAPS[kind as keyof typeof GAPS]}`];
  });
}

/** Undefined: nothing is there. */
function statOf(absolute: string): EntryStat | 'refused' | undefined {
  try {
    const stat = lstatSync(absolute, { throwIfNoEntry: false });
    return stat === undefined ? undefined : entryStat(stat);
  } catch (thrown) {
    return systemCodeOf(thrown) === 'ENOTDIR' ? undefined : 'refused';
  }
}

/** A link whose target is no text, or has gone meanwhile, cannot be put back: it is named only. */
function withTarget(absolute: string, stat: EntryStat): EntryStat {
  if (stat.kind !== 'link') return stat;
  try {
    const bytes = readlinkSync(absolute, { encoding: 'buffer' });
    const target = bytes.toString('utf8');
    if (Buffer.from(target).equals(bytes)) return { ...stat, target };
  } catch {
    // Told below.
  }
  return { ...stat, kind: 'special' };
}

/** What stands at a path of a tree. Undefined: nothing, or the way to it leads out of the tree. */
export function statInside(root: string, path: string): EntryStat | undefined {
  const absolute = join(root, path);
  try {
    // fail-closed: a path with a link among its directories may lead out of the tree.
    const directory = dirname(absolute);
    if (directory !== root && realpathSync(directory) !== directory) return undefined;
  } catch {
    return undefined;
  }
  const stat = statOf(absolute);
  return stat === undefined || stat === 'refused' ? undefined : withTarget(absolute, stat);
}

/** From the root, which may be known by several paths; a path is taken from the first of them. */
export function pathInside(roots: readonly [string, string], path: string): string | undefined {
  const given = normalise(resolve(roots[0], path));
  const base = roots.find((one) => isInside(given, one));
  const way = base === undefined ? '' : relative(base, given);
  // fail-closed: git's own files are nobody's to put back.
  return way === '' || way.split('/').includes('.git') ? undefined : way;
}

export function realOrSame(path: string): string {
  try {
    return realpathSync(resolve(path));
  } catch {
    return resolve(path);
  }
}
