import { availableParallelism } from 'node:os';
import { FindOutput, type FindPart, type FindSkips, findArguments, gnuFind } from './tree-find.js';
import type { TreeIgnore } from './tree-ignore.js';
import { ignoreFileDirectory } from './tree-ignore.js';
import {
  isSameEntry,
  type KnownTree,
  type Observation,
  pathOf,
  type TreeNode,
} from './tree-node.js';
import { divideTree } from './tree-parts.js';
import { compareOutputs, type FoundRecord, readRecords } from './tree-records.js';
import { noGaps, statOf, type WalkGaps, type WalkResult, withTarget } from './tree-walk.js';
import { Turns } from './turns.js';

export interface LargeTreeContext {
  readonly root: string;
  readonly tree: KnownTree;
  readonly ignore: TreeIgnore;
}

/** A division for every processor up to this many. */
const MOST_PARTS = 4;
/** Directories that are skipped by their path; more are skipped by their name where that is safe. */
const MOST_SKIPPED_PATHS = 100;

interface Part extends FindPart {
  readonly output: FindOutput;
  last: Buffer;
}

/**
 * Looks at a large tree with processes of GNU find, whose outputs are compared with the last ones as
 * bytes. The outputs only say where to look: what is told follows from the tree that is known.
 */
export class LargeTreeScan {
  readonly #context: LargeTreeContext;
  #parts: Part[] | undefined;
  /** Whether there is a last output; if not, the next look has to go through all of it. */
  #isRead = false;
  #skips: FindSkips = { paths: [], names: [] };
  #closed: readonly string[] = [];
  #standing: WalkGaps = noGaps();
  /** Paths that became known in another way: an output that does not change says nothing about them. */
  readonly #recheck = new Set<string>();

  constructor(context: LargeTreeContext) {
    this.#context = context;
  }

  get isPrimed(): boolean {
    return this.#isRead;
  }

  /** After a walk: what it passed over need not be gone into. */
  reset(walked: { readonly leftOut: readonly string[]; readonly gaps: WalkGaps }): void {
    this.close();
    this.#recheck.clear();
    this.#standing = noGaps();
    this.#closed = walked.gaps.unreadable.filter((path) => path !== '');
    this.#skips = this.#chooseSkips(walked.leftOut);
  }

  recheck(path: string): void {
    if (this.#isRead) this.#recheck.add(path);
  }

  close(): void {
    for (const { output } of this.#parts ?? []) output.close();
    this.#parts = undefined;
    this.#isRead = false;
  }

  /** Undefined: it has to be looked at in another way this time. */
  async scan(): Promise<WalkResult | undefined> {
    const { root, tree, ignore } = this.#context;
    const command = await gnuFind();
    const rootStat = statOf(root);
    if (command === undefined || rootStat === undefined || rootStat === 'refused') return undefined;
    if (ignore.refreshAbove()) return undefined;
    this.#parts ??= this.#divide();
    const parts = this.#parts;
    const isWhole = !this.#isRead;
    const hasMount = parts.some(({ starts }) =>
      starts.some((start) => !isOn(statOf(`${root}/${start}`), rootStat.dev)),
    );
    if (hasMount) return undefined;
    const outputs = await Promise.all(
      parts.map(({ starts, closed, output }) => {
        const part = { starts, closed: [...closed, ...this.#closed] };
        return output.run(command, findArguments(part, this.#skips), root);
      }),
    );
    const reading = new Reading(this.#context, rootStat.dev ?? 0, {
      names: new Set(this.#skips.names),
      closed: new Set(this.#closed),
    });
    const turns = new Turns();
    const gone: string[] = [];
    for (const [at, output] of outputs.entries()) {
      const part = parts[at];
      if (output === undefined || part === undefined) return undefined;
      if (isWhole) await reading.takeAll(readRecords(output), turns);
      else {
        const difference = compareOutputs(part.last, output);
        await reading.takeAll(difference.changed, turns);
        gone.push(...difference.gone);
      }
      part.last = output;
    }
    if (reading.needsWalk || gone.some((path) => this.#isKnownIgnoreFile(path))) return undefined;
    if (isWhole) gone.push(...reading.unseen());
    this.#isRead = true;
    tree.root.ctime = rootStat.ctime;
    tree.root.ino = rootStat.ino;
    this.#skips = this.#withSkipped(reading.leftOut);
    this.#standing = merged(this.#standing, reading.gaps);
    const known = gone.filter((path) => tree.find(path) !== undefined).map((path) => ({ path }));
    const observations = [...known, ...reading.observations, ...this.#again(reading)];
    return {
      observations,
      gaps: { ...this.#standing, unreadable: this.#closed.slice() },
      entries: tree.files,
      isTooMuch: false,
      leftOut: [],
    };
  }

  #divide(): Part[] {
    const count = Math.min(MOST_PARTS, availableParallelism());
    const parts = divideTree(this.#context.tree.root, count, new Set(this.#closed));
    return parts.map((part) => ({ ...part, output: new FindOutput(), last: Buffer.alloc(0) }));
  }

  #isKnownIgnoreFile(path: string): boolean {
    return ignoreFileDirectory(path) !== undefined && this.#context.tree.find(path) !== undefined;
  }

  /** What cannot be decided by the outputs: it changed too lately, or became known in another way. */
  #again({ seen }: Reading): Observation[] {
    const { root, tree } = this.#context;
    const paths = new Set(this.#recheck);
    this.#recheck.clear();
    for (const node of tree.racy) paths.add(pathOf(node));
    const observations: Observation[] = [];
    for (const path of paths) {
      const node = tree.find(path);
      if (node === undefined || seen.has(path)) continue;
      const stat = statOf(`${root}/${path}`);
      if (stat === 'refused') continue;
      if (stat === undefined) observations.push({ path });
      else if (node.isRacy || !isSameEntry(node, stat)) {
        const full = stat.kind === 'link' ? withTarget(`${root}/${path}`, stat) : stat;
        observations.push({ path, stat: full });
      }
    }
    return observations;
  }

  #withSkipped(leftOut: readonly string[]): FindSkips {
    if (leftOut.length === 0) return this.#skips;
    return this.#chooseSkips([...this.#skips.paths, ...leftOut]);
  }

  /** By path while they are few; else by name, where no directory of that name is tracked. */
  #chooseSkips(leftOut: readonly string[]): FindSkips {
    const { tree, ignore } = this.#context;
    const all = [...new Set([...ignore.excluded, ...leftOut])];
    if (all.length <= MOST_SKIPPED_PATHS) return { paths: all, names: this.#skips.names };
    const tracked = new Set<string>();
    for (const node of tree.nodes()) if (node.children !== undefined) tracked.add(node.name);
    const nameOf = (path: string): string => path.slice(path.lastIndexOf('/') + 1);
    const names = new Set(this.#skips.names);
    for (const path of all) if (!tracked.has(nameOf(path))) names.add(nameOf(path));
    const paths = all.filter((path) => !names.has(nameOf(path)));
    // More than that is gone into, and passed over then.
    return {
      paths: paths.slice(0, MOST_SKIPPED_PATHS),
      names: [...names].slice(0, MOST_SKIPPED_PATHS),
    };
  }
}

/** Directories that were named, but not gone into. */
interface Shut {
  readonly names: ReadonlySet<string>;
  readonly closed: ReadonlySet<string>;
}

function isOn(stat: ReturnType<typeof statOf>, dev: number | undefined): boolean {
  return stat !== undefined && stat !== 'refused' && stat.dev === dev;
}

/** Makes observations of records. */
class Reading {
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
  unseen(): string[] {
    const paths: string[] = [];
    for (const node of this.#context.tree.nodes()) {
      if (!this.#seenNodes.has(node) && !this.#isShutAway(node)) paths.push(pathOf(node));
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
    if (stat.kind === 'directory') this.#newDirectories.add(path);
    this.observations.push({ path, stat });
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
    if (isDirectory) {
      this.#newDirectories.add(path);
      ignore.refresh(path);
      const name = path.slice(path.lastIndexOf('/') + 1);
      if (this.#shut.names.has(name)) this.needsWalk = true;
    }
    this.#noteMount(path, stat);
    this.seen.add(path);
    this.observations.push({ path, stat });
  }

  #noteMount(path: string, stat: FoundRecord['stat']): void {
    if (stat.kind === 'directory' && stat.dev !== this.#dev) this.gaps.mounts.push(path);
  }
}

function merged(one: WalkGaps, other: WalkGaps): WalkGaps {
  const both = (a: readonly string[], b: readonly string[]): string[] => [...new Set([...a, ...b])];
  return {
    unreadable: [],
    noText: both(one.noText, other.noText),
    mounts: both(one.mounts, other.mounts),
    adopted: [],
  };
}
