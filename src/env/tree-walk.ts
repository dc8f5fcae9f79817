import { lstatSync, readdirSync, readlinkSync } from 'node:fs';
import { systemCodeOf } from '../errors.js';
import { IGNORE_FILES, type TreeIgnore } from './tree-ignore.js';
import {
  type EntryStat,
  entryStat,
  isSameEntry,
  type KnownTree,
  type Observation,
  RACY_MS,
  type TreeNode,
} from './tree-node.js';
import { Turns } from './turns.js';

/** What a scan asks for. */
export interface WalkContext {
  /** Absolute, without links. */
  readonly root: string;
  readonly tree: KnownTree;
  readonly ignore: TreeIgnore;
  /** Entries from which on the walk is given up. */
  readonly maxEntries: number;
  /** When the last look began; what was made before it was there, though it may have been left out. */
  readonly lastLookAt: number;
}

export interface WalkResult {
  readonly observations: readonly Observation[];
  readonly gaps: WalkGaps;
  /** Everything that was seen, tracked directories included. */
  readonly entries: number;
  /** The walk was given up. */
  readonly isTooMuch: boolean;
  /** Directories that were passed over. */
  readonly leftOut: readonly string[];
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

export function noGaps(): WalkGaps {
  return { unreadable: [], noText: [], mounts: [], adopted: [], rules: [], rootModes: [] };
}

/** Brings what is known of the root itself up to date. */
export function noteRoot(root: TreeNode, { ctime, ino, mode }: EntryStat, gaps: WalkGaps): void {
  // Nothing is known of it before the first look.
  if (root.ino !== 0 && root.mode !== mode) {
    gaps.rootModes.push(`${root.mode.toString(8)} to ${mode.toString(8)}`);
  }
  Object.assign(root, { ctime, ino, mode });
}

interface Step {
  readonly path: string;
  readonly node: TreeNode | undefined;
  readonly stat: EntryStat;
  /** Rules on the way have changed: what was left out may not be any more. */
  isRelisted: boolean;
  /** It was left out by the rules from before this look. */
  readonly wasOut: boolean;
}

/** How many entries are looked at between two looks at the clock. */
const CLOCK_EVERY = 64;

/** Goes through the tree with `readdir` and `lstat`, in short stretches. Nothing is opened or followed. */
export async function walkTree(context: WalkContext): Promise<WalkResult> {
  const walk = new Walk(context);
  const turns = new Turns();
  const start = walk.start();
  const steps = start === undefined ? [] : [start];
  for (let step = steps.pop(); step !== undefined; step = steps.pop()) {
    let count = 0;
    for (const name of walk.names(step)) {
      const deeper = walk.entry(step, name);
      if (deeper !== undefined) steps.push(deeper);
      if (++count % CLOCK_EVERY === 0) await turns.pause();
    }
    if (walk.entries > context.maxEntries) break;
    await turns.pause();
  }
  const { observations, gaps, entries, leftOut } = walk;
  return { observations, gaps, entries, leftOut, isTooMuch: entries > context.maxEntries };
}

class Walk {
  readonly observations: Observation[] = [];
  readonly gaps = noGaps();
  readonly leftOut: string[] = [];
  entries = 0;
  readonly #context: WalkContext;
  #dev = 0;

  constructor(context: WalkContext) {
    this.#context = context;
  }

  start(): Step | undefined {
    const { root, tree, ignore } = this.#context;
    const stat = statOf(root);
    if (stat === undefined || stat === 'refused') {
      this.gaps.unreadable.push('');
      return undefined;
    }
    this.#dev = stat.dev ?? 0;
    noteRoot(tree.root, stat, this.gaps);
    const isRelisted = ignore.refreshAbove();
    for (const path of ignore.changedAbove()) this.gaps.rules.push(path);
    return { path: '', node: tree.root, stat, isRelisted, wasOut: false };
  }

  /** What is in a directory; tells what has gone from it. */
  names(step: Step): Iterable<string> {
    const { path, node, stat } = step;
    if (this.#rulesChanged(step)) step.isRelisted = true;
    if (node?.children !== undefined && node.listedFor === stat.ctime && !step.isRelisted) {
      return [...node.children.keys()];
    }
    const readAt = Date.now();
    let names: string[];
    try {
      names = readdirSync(path === '' ? this.#context.root : `${this.#context.root}/${path}`);
    } catch (thrown) {
      const code = systemCodeOf(thrown);
      if (code !== 'ENOENT' && code !== 'ENOTDIR') this.gaps.unreadable.push(path);
      // What was known of it is neither there nor gone: it stays as it was.
      return [];
    }
    if (node?.children !== undefined) {
      const there = new Set(names);
      for (const name of node.children.keys()) {
        if (!there.has(name)) this.observations.push({ path: below(path, name) });
      }
      if (readAt - stat.ctime >= RACY_MS) node.listedFor = stat.ctime;
      else delete node.listedFor;
    }
    return names;
  }

  /** Tells what differs; gives the next step where it is a directory to go into. */
  entry(step: Step, name: string): Step | undefined {
    const { root, ignore } = this.#context;
    const path = below(step.path, name);
    const node = step.node?.children?.get(name);
    if (node === undefined && ignore.isNever(path, name)) return undefined;
    this.entries++;
    const stat = statOf(`${root}/${path}`);
    if (stat === undefined) {
      if (node !== undefined) this.observations.push({ path });
      // A name that cannot be found again is one that is no text.
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
    if (judgement === 'left-out') {
      if (isDirectory) this.leftOut.push(path);
      return undefined;
    }
    const wasOut = judgement === 'uncovered';
    this.#compare(path, node, stat, wasOut);
    if (!isDirectory) return undefined;
    if (stat.dev !== this.#dev) {
      this.gaps.mounts.push(path);
      return undefined;
    }
    const known = node?.state.kind === 'directory' ? node : undefined;
    return { path, node: known, stat, isRelisted: step.isRelisted, wasOut };
  }

  #compare(path: string, node: TreeNode | undefined, stat: EntryStat, wasOut: boolean): void {
    if (node !== undefined && !node.isRacy && isSameEntry(node, stat)) return;
    if (node?.state.kind === 'directory' && stat.kind === 'directory' && node.mode === stat.mode) {
      // Something in it has changed, which is told there.
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
    return madeAt < this.#context.lastLookAt;
  }

  #rulesChanged({ path, node, stat }: Step): boolean {
    const { ignore } = this.#context;
    // A directory without such a file, then and now, has nothing to read.
    const mayHave =
      ignore.hasRules(path) ||
      node === undefined ||
      node.listedFor !== stat.ctime ||
      IGNORE_FILES.some((name) => node.children?.has(name) === true);
    return mayHave && ignore.refresh(path) && node !== undefined;
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
