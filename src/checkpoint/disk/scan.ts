import { realpathSync } from 'node:fs';
import { dirname, isInside, join, normalise, relative, resolve } from '../../platform/fs/paths.js';
import { TreeIgnore } from './ignore.js';
import { type EntryStat, KnownTree } from './known-tree.js';
import { statOf, type WalkResult, walkTree, withTarget } from './walk.js';

export interface TreeScanOptions {
  readonly root: string;
  readonly excluded: readonly string[];
  readonly honoursIgnoreFiles: boolean;
  readonly maxEntries: number;
}

/** Looks at a tree, and at single paths of it. Nothing in it is ever opened for writing. */
export interface TreeScan {
  /** Absolute, without links. */
  readonly root: string;
  readonly tree: KnownTree;
  /** What differs from `tree`, which is left to the caller to bring up to date. */
  scan(): Promise<WalkResult>;
  /** What a scan found could not be taken in: the next one compares with the rules from before it. */
  markLost(): void;
  /** Directories of the tree that are never tracked because they are our own. */
  readonly excluded: readonly string[];
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
  let lastScanAt = 0;
  let isLost = false;
  return {
    root,
    tree,
    absolute,
    excluded: [...ignore.excluded],
    markLost() {
      isLost = true;
    },
    async scan() {
      const startedAt = Date.now();
      // After a lost scan the rules from before it are still those from before.
      if (!isLost) ignore.startLook(lastScanAt === 0);
      isLost = true;
      const { maxEntries } = options;
      const result = await walkTree({ root, tree, ignore, maxEntries, lastScanAt });
      isLost = false;
      lastScanAt = startedAt;
      return result;
    },
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
