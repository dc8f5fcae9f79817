import { lstatSync, readdirSync, readlinkSync } from 'node:fs';
import { systemCodeOf } from '../../errors.js';
import { Turns } from '../../platform/turns.js';
import type { TreeIgnore } from './ignore.js';
import {
  type EntryStat,
  entryStat,
  isSameEntry,
  type KnownTree,
  type Observation,
  type TreeNode,
} from './known-tree.js';

export interface WalkContext {
  /** Absolute, without links. */
  readonly root: string;
  readonly tree: KnownTree;
  readonly ignore: TreeIgnore;
  /** Entries from which on the walk is given up. */
  readonly maxEntries: number;
  /** When the last scan began; what was made before it was there, though it may have been left out. */
  readonly lastScanAt: number;
}

export interface WalkResult {
  readonly observations: readonly Observation[];
  readonly gaps: WalkGaps;
  /** The walk was given up. */
  readonly isTooMuch: boolean;
}

/** Why a look does not show everything. */
export interface WalkGaps {
  /** Directories and entries that the system does not let us look at. */
  readonly unreadable: string[];
  /** Directories with names that are no text. */
  readonly noText: string[];
  /** Directories of another file system. */
  readonly mounts: string[];
  /** Paths that became tracked because ignore rules changed. */
  readonly adopted: string[];
  /** Ignore files that are not tracked themselves, and have changed. */
  readonly rules: string[];
  /** How the mode of the root itself has changed, which is not journalled. */
  readonly rootModes: string[];
}

/** Brings what is known of the root itself up to date. */
function noteRoot(root: TreeNode, { ctime, ino, mode }: EntryStat, gaps: WalkGaps): void {
  // Nothing is known of it before the first look.
  if (root.ino !== 0 && root.mode !== mode) {
    gaps.rootModes.push(`${root.mode.toString(8)} to ${mode.toString(8)}`);
  }
  Object.assign(root, { ctime, ino, mode });
}

/** A directory to go into. */
interface Step {
  readonly path: string;
  readonly node: TreeNode | undefined;
  /** It was left out by the rules from before this scan. */
  readonly wasOut: boolean;
}

/** How many entries are looked at between two looks at the clock. */
const CLOCK_EVERY = 64;

/** Goes through the tree with `readdir` and `lstat`, in short stretches. Nothing is opened or followed. */
export async function walkTree(context: WalkContext): Promise<WalkResult> {
  const { root, tree, ignore, maxEntries } = context;
  const walk = new Walk(context);
  const stat = statOf(root);
  if (stat === undefined || stat === 'refused') {
    walk.gaps.unreadable.push('');
    return { ...walk, isTooMuch: false };
  }
  ignore.refreshAbove();
  walk.gaps.rules.push(...ignore.changedAbove());
  const steps: Step[] = [{ path: '', node: tree.root, wasOut: false }];
  const turns = new Turns();
  let entries = 0;
  for (let step = steps.pop(); step !== undefined; step = steps.pop()) {
    for (const name of walk.names(step)) {
      const deeper = walk.entry(step, name, stat.dev);
      if (deeper !== undefined) steps.push(deeper);
      if (++entries % CLOCK_EVERY === 0) await turns.pause();
    }
    if (entries > maxEntries) break;
    await turns.pause();
  }
  noteRoot(tree.root, stat, walk.gaps);
  return { ...walk, isTooMuch: entries > maxEntries };
}

class Walk {
  readonly observations: Observation[] = [];
  readonly gaps: WalkGaps = {
    unreadable: [],
    noText: [],
    mounts: [],
    adopted: [],
    rules: [],
    rootModes: [],
  };
  readonly #context: WalkContext;

  constructor(context: WalkContext) {
    this.#context = context;
  }

  /** Names in a directory; observes what has gone from it. */
  names({ path, node }: Step): string[] {
    const { root, ignore } = this.#context;
    ignore.refresh(path);
    let names: string[];
    try {
      names = readdirSync(path === '' ? root : `${root}/${path}`);
    } catch (thrown) {
      const code = systemCodeOf(thrown);
      if (code !== 'ENOENT' && code !== 'ENOTDIR') this.gaps.unreadable.push(path);
      // What was known of it is neither there nor gone: it stays as it was.
      return [];
    }
    const present = new Set(names);
    for (const name of node?.children?.keys() ?? []) {
      if (!present.has(name)) this.observations.push({ path: below(path, name) });
    }
    return names.filter(
      (name) => node?.children?.has(name) || !ignore.isNever(below(path, name), name),
    );
  }

  /** Observes what differs; gives the next step where it is a directory to go into. */
  entry(step: Step, name: string, rootDevice: number | undefined): Step | undefined {
    const { root, ignore } = this.#context;
    const path = below(step.path, name);
    const node = step.node?.children?.get(name);
    const stat = statOf(`${root}/${path}`);
    if (stat === undefined) {
      if (node !== undefined) this.observations.push({ path });
      // A name that cannot be found again is not valid UTF-8.
      else if (name.includes('\ufffd')) this.gaps.noText.push(step.path);
      return undefined;
    }
    if (stat === 'refused') {
      // Its names can be listed, but nothing in it can be reached.
      this.gaps.unreadable.push(step.path);
      return undefined;
    }
    const isDirectory = stat.kind === 'directory';
    // What is tracked stays tracked, also when a rule comes to leave it out.
    const judgement = node === undefined ? ignore.judge(path, isDirectory, step.wasOut) : 'tracked';
    if (judgement === 'left-out') return undefined;
    const wasOut = judgement === 'uncovered';
    this.#compare(path, node, stat, wasOut);
    if (!isDirectory) return undefined;
    if (stat.dev !== rootDevice) {
      this.gaps.mounts.push(path);
      return undefined;
    }
    return { path, node: node?.state.kind === 'directory' ? node : undefined, wasOut };
  }

  #compare(path: string, node: TreeNode | undefined, stat: EntryStat, wasOut: boolean): void {
    if (node !== undefined && !node.isRacy && isSameEntry(node, stat)) return;
    if (node?.state.kind === 'directory' && stat.kind === 'directory' && node.mode === stat.mode) {
      // Something in it has changed, which is observed there.
      node.ctime = stat.ctime;
      node.ino = stat.ino;
      return;
    }
    const full = stat.kind === 'link' ? withTarget(`${this.#context.root}/${path}`, stat) : stat;
    if (wasOut && this.#wasThere(path)) {
      this.gaps.adopted.push(path);
      this.observations.push({ path, stat: full, isAdopted: true });
    } else this.observations.push({ path, stat: full });
  }

  #wasThere(path: string): boolean {
    const stat = lstatSync(`${this.#context.root}/${path}`, { throwIfNoEntry: false });
    if (stat === undefined) return false;
    const madeAt = stat.birthtimeMs > 0 ? stat.birthtimeMs : stat.ctimeMs;
    return madeAt < this.#context.lastScanAt;
  }
}

function below(directory: string, name: string): string {
  return directory === '' ? name : `${directory}/${name}`;
}

/** Undefined: nothing is there. */
export function statOf(absolute: string): EntryStat | 'refused' | undefined {
  try {
    const stat = lstatSync(absolute, { throwIfNoEntry: false });
    return stat === undefined ? undefined : entryStat(stat);
  } catch (thrown) {
    return systemCodeOf(thrown) === 'ENOTDIR' ? undefined : 'refused';
  }
}

/** A link whose target is no text, or has gone meanwhile, cannot be put back: it is named only. */
export function withTarget(absolute: string, stat: EntryStat): EntryStat {
  try {
    const bytes = readlinkSync(absolute, { encoding: 'buffer' });
    const target = bytes.toString('utf8');
    if (Buffer.from(target).equals(bytes)) return { ...stat, target };
  } catch {
    // Told below.
  }
  return { ...stat, kind: 'special' };
}
