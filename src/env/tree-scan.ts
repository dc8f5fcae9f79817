import { realpathSync } from 'node:fs';
import { dirname, isInside, join, normalise, relative, resolve } from './paths.js';
import { TreeIgnore } from './tree-ignore.js';
import { LargeTreeScan } from './tree-large.js';
import { type EntryStat, KnownTree } from './tree-node.js';
import { ChangeTimes, type LookBegin, type TimeSources } from './tree-times.js';
import { statOf, type WalkResult, walkTree, withTarget } from './tree-walk.js';

export interface TreeScanOptions {
  readonly root: string;
  readonly excluded: readonly string[];
  readonly honoursIgnoreFiles: boolean;
  readonly maxEntries: number;
  readonly useFind: boolean;
  /** Files from which on processes are faster than we are. */
  readonly findFrom: number;
  readonly timeSources: TimeSources;
}

/** Looks at a tree, and at single paths of it. Nothing in it is ever opened for writing. */
export interface TreeScan {
  /** Absolute, without links. */
  readonly root: string;
  readonly tree: KnownTree;
  /** What differs from `tree`, which is left to the caller to bring up to date. */
  scan(): Promise<WalkResult>;
  /** What a scan found could not be taken in: the next one trusts nothing but the tree itself. */
  distrust(): void;
  /** Directories of the tree that are never tracked because they are our own. */
  readonly excluded: readonly string[];
  /** The tree has been brought up to date here by a look at this path alone. */
  recheck(path: string): void;
  /** Undefined: nothing is there, or the way to it leads out of the tree. */
  stat(path: string): EntryStat | undefined;
  absolute(path: string): string;
  /** From the root; undefined for what is outside, for the root itself and for git's own files. */
  inside(path: string): string | undefined;
  /** Whether scans pass the path over. */
  leavesOut(path: string, isDirectory: boolean): boolean;
}

export function openTreeScan(options: TreeScanOptions): TreeScan {
  const root = realOrSame(options.root);
  const tree = new KnownTree();
  const ignore = new TreeIgnore(root, {
    honoursFiles: options.honoursIgnoreFiles,
    excluded: options.excluded.map(realOrSame),
  });
  const absolute = (path: string): string => (path === '' ? root : `${root}/${path}`);
  const { maxEntries, timeSources } = options;
  const times = new ChangeTimes(root, timeSources);
  const large = new LargeTreeScan({ root, tree, ignore, maxEntries, times });
  let lastLookAt = 0;
  let isLost = false;
  const distrust = (): void => {
    isLost = true;
    large.distrust();
    tree.distrustLists();
  };
  const look = async (begin: LookBegin | undefined): Promise<WalkResult> => {
    const result = begin === undefined ? undefined : await large.scan(begin, lastLookAt);
    if (result !== undefined) return result;
    const walked = await walkTree({ root, tree, ignore, maxEntries, lastLookAt });
    large.reset(walked, begin);
    return walked;
  };
  return {
    root,
    tree,
    absolute,
    distrust,
    excluded: [...ignore.excluded],
    async scan() {
      // Nobody knows before the first look how large the tree is.
      const mayBeLarge = lastLookAt === 0 || tree.files >= options.findFrom;
      const begin = options.useFind && mayBeLarge ? times.begin() : undefined;
      const startedAt = begin?.at ?? timeSources.clock.now();
      // After a lost look the rules from before it are still those from before.
      if (!isLost) ignore.startLook(lastLookAt === 0);
      try {
        const result = await look(begin);
        isLost = false;
        lastLookAt = startedAt;
        return result;
      } catch (thrown) {
        distrust();
        throw thrown;
      }
    },
    recheck: (path) => large.recheck(path),
    stat(path) {
      if (!hasStraightWay(root, path)) return undefined;
      const stat = statOf(absolute(path));
      if (stat === undefined || stat === 'refused') return undefined;
      return stat.kind === 'link' ? withTarget(absolute(path), stat) : stat;
    },
    inside: (path) => wayInside([resolve(options.root), root], path),
    leavesOut: (path, isDirectory) => ignore.leavesOutWay(path, isDirectory),
  };
}

/** From the root, which may be known by several paths; a path is taken from the first of them. */
function wayInside(roots: readonly [string, string], path: string): string | undefined {
  const given = normalise(resolve(roots[0], path));
  const base = roots.find((one) => isInside(given, one));
  const way = base === undefined ? '' : relative(base, given);
  // fail-closed: git's own files are nobody's to put back.
  return way === '' || way.split('/').includes('.git') ? undefined : way;
}

/** fail-closed: a path with a link among its directories may lead out of the tree. */
function hasStraightWay(root: string, path: string): boolean {
  const directory = dirname(join(root, path));
  if (directory === root) return true;
  try {
    return realpathSync(directory) === directory;
  } catch {
    return false;
  }
}

function realOrSame(path: string): string {
  try {
    return realpathSync(resolve(path));
  } catch {
    return resolve(path);
  }
}
