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
  /** An absolute real path. */
  readonly root: string;
  readonly tree: KnownTree;
  readonly ignore: TreeIgnore;
  /** The walk stops above this number of entries. */
  readonly maxEntries: number;
  /** When the last walk began; older entries existed then, though possibly ignored. */
  readonly lastWalkAt: number;
  /** Increases with every walk. */
  readonly number: number;
}

/** A path that differs from its known state. */
export interface Observation {
  readonly path: string;
  readonly stat: EntryStat;
  /** The path existed before, but an ignore rule that has gone hid it. */
  readonly isAdopted: boolean;
}

export interface WalkResult {
  /** New and changed paths, directories before their entries. */
  readonly observations: readonly Observation[];
  /** Known paths that no longer exist, deepest first. */
  readonly gone: readonly string[];
  /** Why the result is incomplete, for people. */
  readonly gaps: readonly string[];
  /** The root is unreadable. */
  readonly isClosed: boolean;
  /** The walk stopped at `maxEntries`. */
  readonly isTooMuch: boolean;
}

/** Entries between two checks of the clock. */
const CLOCK_EVERY = 64;

/** Walks the tree with `readdir` and `lstat` in short stretches; opens and follows nothing. */
export async function walkTree(context: WalkContext): Promise<WalkResult> {
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

interface Directory {
  readonly path: string;
  /** The rules before this walk ignored it. */
  readonly wasOut: boolean;
}

class Walk {
  readonly #context: WalkContext;
  readonly #gaps = new Map<keyof typeof GAPS, Set<string>>();
  readonly #observations: Observation[] = [];
  /** Unreadable paths; known entries below them keep their state. */
  readonly #closed = new Set<string>();

  constructor(context: WalkContext) {
    this.#context = context;
  }

  gap(kind: keyof typeof GAPS, path: string): void {
    this.#gaps.set(kind, (this.#gaps.get(kind) ?? new Set()).add(path));
  }

  result(gone: readonly string[]): WalkResult {
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

  /** Records a difference and returns the directory to descend into, if it is one. */
  entry(inside: Directory, name: string, rootDevice: number): Directory | undefined {
    const { root, tree, ignore, number } = this.#context;
    const path = inside.path === '' ? name : `${inside.path}/${name}`;
    const node = tree.get(path);
    if (node === undefined && ignore.isNever(path, name)) return undefined;
    const stat = statOf(`${root}/${path}`);
    if (stat === undefined) {
      // Node cannot find a name again that is not valid UTF-8.
      if (node === undefined && name.includes('\ufffd')) this.gap('noText', inside.path);
      return undefined;
    }
    if (stat === 'refused') {
      // The directory is listable but not searchable.
      this.gap('unreadable', inside.path);
      this.#closed.add(path);
      return undefined;
    }
    const isDirectory = stat.kind === 'directory';
    // A tracked path stays tracked even when a new rule ignores it.
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

  /** The known paths that this walk did not find. */
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
      // A change inside a directory is observed at the entry itself.
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

/** Explains for people why a walk is incomplete. */
export function gapText(kind: keyof typeof GAPS, paths: Iterable<string>): string {
  const all = [...paths];
  if (kind === 'rootModes') return `the mode of the directory itself changed from ${all[0]}`;
  const named = all.slice(0, MOST_NAMED).map((path) => JSON.stringify(path === '' ? '.' : path));
  const rest = all.length > MOST_NAMED ? ` and ${all.length - MOST_NAMED} more` : '';
  return `${named.join(', ')}${rest}: ${GAPS[kind]}`;
}
