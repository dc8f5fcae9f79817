import { lstatSync, readdirSync } from 'node:fs';
import { systemCodeOf } from '../../errors.js';
import { Turns } from '../../platform/turns.js';
import type { TreeIgnore } from './ignore.js';
import {
  type EntryStat,
  isSameEntry,
  type KnownTree,
  nodeOf,
  parentOf,
  statOf,
  type TreeNode,
  withTarget,
} from './tree.js';

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

/** What a walk found at a path that differs from what is known. */
export interface Observation {
  readonly path: string;
  readonly stat: EntryStat;
  /** It stood there before, but was left out by an ignore rule that has gone. */
  readonly isAdopted: boolean;
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
    walk.gap('unreadable', '');
    return walk.result([]);
  }
  ignore.refreshAbove();
  const directories: Directory[] = [{ path: '', wasOut: false }];
  const turns = new Turns();
  let entries = 0;
  for (let at = directories.pop(); at !== undefined; at = directories.pop()) {
    for (const name of walk.names(at.path)) {
      const deeper = walk.entry(at, name, stat.dev);
      if (deeper !== undefined) directories.push(deeper);
      if (++entries % CLOCK_EVERY === 0) await turns.pause();
    }
    if (entries > maxEntries) return { ...walk.result([]), isTooMuch: true };
    await turns.pause();
  }
  for (const path of ignore.changedOutside()) walk.gap('rules', path);
  const modeBefore = tree.get('')?.stat.mode ?? stat.mode;
  if (modeBefore !== stat.mode) {
    walk.gap('rootModes', `${modeBefore.toString(8)} to ${stat.mode.toString(8)}`);
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
  readonly #context: WalkContext;
  readonly #gaps = new Map<keyof typeof GAPS, Set<string>>();
  readonly #observations: Observation[] = [];
  /** What was known below these is neither there nor gone: it stays as it was. */
  readonly #closed = new Set<string>();

  constructor(context: WalkContext) {
    this.#context = context;
  }

  gap(kind: keyof typeof GAPS, path: string): void {
    this.#gaps.set(kind, (this.#gaps.get(kind) ?? new Set()).add(path));
  }

  result(gone: readonly string[]): Walked {
    const gaps = [...this.#gaps].map(([kind, paths]) => gapText(kind, paths));
    const isClosed = this.#gaps.get('unreadable')?.has('') === true;
    return { observations: this.#observations, gone, gaps, isClosed, isTooMuch: false };
  }

  names(path: string): string[] {
    const { root, ignore } = this.#context;
    ignore.refresh(path);
    try {
      return readdirSync(path === '' ? root : `${root}/${path}`);
    } catch (thrown) {
      const code = systemCodeOf(thrown);
      if (code !== 'ENOENT' && code !== 'ENOTDIR') this.gap('unreadable', path);
      this.#closed.add(path);
      return [];
    }
  }

  /** Observes what differs; gives the directory to go into where it is one. */
  entry(inside: Directory, name: string, rootDevice: number): Directory | undefined {
    const { root, tree, ignore, number } = this.#context;
    const path = inside.path === '' ? name : `${inside.path}/${name}`;
    const node = tree.get(path);
    if (node === undefined && ignore.isNever(path, name)) return undefined;
    const stat = statOf(`${root}/${path}`);
    if (stat === undefined) {
      // A name that cannot be found again is not valid UTF-8.
      if (node === undefined && name.includes('\ufffd')) this.gap('noText', inside.path);
      return undefined;
    }
    if (stat === 'refused') {
      // Its names can be listed, but nothing in it can be reached.
      this.gap('unreadable', inside.path);
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
    this.gap('mounts', path);
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
    const known = node?.stat;
    if (
      node &&
      known?.kind === 'directory' &&
      stat.kind === 'directory' &&
      known.mode === stat.mode
    ) {
      // Something in it has changed, which is observed there.
      node.stat = stat;
      return;
    }
    const absolute = `${this.#context.root}/${path}`;
    const isAdopted = wasOut && this.#wasThere(absolute);
    if (isAdopted) this.gap('adopted', path);
    this.#observations.push({ path, stat: withTarget(absolute, stat), isAdopted });
  }

  #wasThere(absolute: string): boolean {
    const stat = lstatSync(absolute, { throwIfNoEntry: false });
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
export function gapText(kind: keyof typeof GAPS, paths: Iterable<string>): string {
  const all = [...paths];
  if (kind === 'rootModes') return `the mode of the directory itself changed from ${all[0]}`;
  const named = all.slice(0, MOST_NAMED).map((path) => JSON.stringify(path === '' ? '.' : path));
  const rest = all.length > MOST_NAMED ? ` and ${all.length - MOST_NAMED} more` : '';
  return `${named.join(', ')}${rest}: ${GAPS[kind]}`;
}
