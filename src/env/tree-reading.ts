import { ignoreFileDirectory, type TreeIgnore } from './tree-ignore.js';
import {
  isSameEntry,
  type KnownTree,
  type Observation,
  pathOf,
  type TreeNode,
} from './tree-node.js';
import type { FoundRecord } from './tree-records.js';
import { noGaps } from './tree-walk.js';
import type { Turns } from './turns.js';

export interface LargeTreeContext {
  readonly root: string;
  readonly tree: KnownTree;
  readonly ignore: TreeIgnore;
}

/** Directories that were named, but not gone into. */
export interface Shut {
  readonly names: ReadonlySet<string>;
  readonly closed: ReadonlySet<string>;
}

/** Makes observations of records. */
export class Reading {
  readonly observations: Observation[] = [];
  readonly leftOut: string[] = [];
  readonly gaps = noGaps();
  readonly seen = new Set<string>();
  /** Rules have changed, or a directory was not gone into that should have been. */
  needsWalk = false;
  readonly #context: LargeTreeContext;
  readonly #dev: number;
  readonly #shut: Shut;
  readonly #newDirectories = new Set<string>();
  readonly #seenNodes = new Set<TreeNode>();

  constructor(context: LargeTreeContext, dev: number, shut: Shut) {
    this.#context = context;
    this.#dev = dev;
    this.#shut = shut;
  }

  async takeAll(records: Iterable<FoundRecord>, turns: Turns): Promise<void> {
    let count = 0;
    for (const record of records) {
      this.#take(record);
      if (++count % 256 === 0) await turns.pause();
    }
  }

  /** What is known, but was not in the whole output. */
  async unseen(turns: Turns): Promise<string[]> {
    const paths: string[] = [];
    let count = 0;
    for (const node of this.#context.tree.nodes()) {
      if (!this.#seenNodes.has(node) && !this.#isShutAway(node)) paths.push(pathOf(node));
      if (++count % 256 === 0) await turns.pause();
    }
    return paths;
  }

  #isShutAway(node: TreeNode): boolean {
    for (let at = node.parent; at !== undefined; at = at.parent) {
      if (this.#shut.closed.has(pathOf(at))) return true;
    }
    return false;
  }

  #take({ path, shown, stat }: FoundRecord): void {
    const { tree } = this.#context;
    const slash = shown.lastIndexOf('/');
    const directory = slash === -1 ? '' : shown.slice(0, slash);
    if (path === undefined) {
      if (tree.find(directory) !== undefined) this.gaps.noText.push(directory);
      return;
    }
    const node = tree.find(path);
    if (node === undefined) {
      this.#takeNew(path, directory, stat);
      return;
    }
    this.seen.add(path);
    this.#seenNodes.add(node);
    this.#noteMount(path, stat);
    if (isSameEntry(node, stat) && !node.isRacy) return;
    // What was in it could not be seen; now it may be.
    if (this.#shut.closed.has(path)) this.needsWalk = true;
    if (ignoreFileDirectory(path) !== undefined) this.needsWalk = true;
    if (node.state.kind === 'directory' && stat.kind === 'directory' && node.mode === stat.mode) {
      node.ctime = stat.ctime;
      node.ino = stat.ino;
      return;
    }
    if (stat.kind === 'directory') this.#enter(path);
    this.observations.push({ path, stat });
  }

  #enter(path: string): void {
    this.#newDirectories.add(path);
    this.#context.ignore.refresh(path);
    // fail-closed: directories of this name are not gone into, but this one has to be.
    if (this.#shut.names.has(path.slice(path.lastIndexOf('/') + 1))) this.needsWalk = true;
  }

  #takeNew(path: string, directory: string, stat: FoundRecord['stat']): void {
    const { tree, ignore } = this.#context;
    const parent = tree.find(directory);
    const isReached = parent?.children !== undefined || this.#newDirectories.has(directory);
    // It lies in a directory that is left out.
    if (!isReached) return;
    const isDirectory = stat.kind === 'directory';
    if (ignore.leavesOut(path, isDirectory)) {
      if (isDirectory) this.leftOut.push(path);
      return;
    }
    const ruled = ignoreFileDirectory(path);
    // In a new directory the rules were read with it.
    if (ruled !== undefined && !this.#newDirectories.has(directory)) this.needsWalk = true;
    if (isDirectory) this.#enter(path);
    this.#noteMount(path, stat);
    this.seen.add(path);
    this.observations.push({ path, stat });
  }

  #noteMount(path: string, stat: FoundRecord['stat']): void {
    if (stat.kind === 'directory' && stat.dev !== this.#dev) this.gaps.mounts.push(path);
  }
}
