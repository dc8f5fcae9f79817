import { lstatSync, readdirSync, readlinkSync } from 'node:fs';
import { systemCodeOf } from '../errors.js';
import { IGNORE_FILES, ignoreFileDirectory, type TreeIgnore } from './tree-ignore.js';
import {
  type EntryStat,
  entryStat,
  isRacyTime,
  isSameEntry,
  type KnownTree,
  type Observation,
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
function noteRoot(root: TreeNode, { ctime, ino, mode }: EntryStat, gaps: WalkGaps): void {
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
  /** Every directory in it is gone into, also those that have not changed themselves. */
  readonly isWhole: boolean;
}

/** How many entries are looked at between two looks at the clock. */
const CLOCK_EVERY = 64;

/** Goes through the tree with `readdir` and `lstat`, in short stretches. Nothing is opened or followed. */
export async function walkTree(context: WalkContext): Promise<WalkResult> {
  const walk = new Walk(context, undefined);
  const start = walk.start(true);
  if (start !== undefined) await follow(walk, start, new Turns());
  return walk.result();
}

/** Where to look in a tree of which the rest is known to be as it was. */
export interface WalkPlaces {
  /** What may have changed. Of a directory: the names in it, and what they stand for. */
  readonly changed: ReadonlySet<string>;
  /** Directories that may hold anything. */
  readonly unknown: ReadonlySet<string>;
}

/** Undefined: everything has to be gone through, for what is known is not enough to go by. */
export async function walkPlaces(
  context: WalkContext,
  places: WalkPlaces,
): Promise<WalkResult | undefined> {
  const { tree, ignore } = context;
  const walk = new Walk(context, places);
  const start = walk.start(false);
  if (start === undefined || start.isRelisted || !isSameDirectory(tree.root, start.stat)) {
    return undefined;
  }
  const turns = new Turns();
  await follow(walk, start, turns);
  const [directories, others] = inOrder(tree, places);
  for (const path of [...directories, ...others]) {
    const ruled = ignoreFileDirectory(path);
    if (ruled !== undefined && ignore.refresh(ruled)) return undefined;
    const step = walk.place(path);
    if (step !== undefined) await follow(walk, step, turns);
    if (walk.rulesChanged || walk.gaps.unreadable.length > 0) return undefined;
    await turns.pause();
  }
  return walk.rulesChanged || walk.gaps.unreadable.length > 0 ? undefined : walk.result();
}

/**
 * The known ones; what is not known is found by the names in its directory. Directories go first, those
 * above before those in them: below one that stands there no more nothing is looked at.
 */
function inOrder(tree: KnownTree, { changed, unknown }: WalkPlaces): [string[], string[]] {
  const directories: string[] = [];
  const others: string[] = [];
  for (const path of new Set([...changed, ...unknown])) {
    const node = tree.find(path);
    if (node !== undefined) (node.children === undefined ? others : directories).push(path);
  }
  return [directories.sort(), others];
}

async function follow(walk: Walk, start: Step, turns: Turns): Promise<void> {
  const steps = [start];
  for (let step = steps.pop(); step !== undefined; step = steps.pop()) {
    let count = 0;
    for (const name of walk.names(step)) {
      const deeper = walk.entry(step, name);
      if (deeper !== undefined) steps.push(deeper);
      if (++count % CLOCK_EVERY === 0) await turns.pause();
    }
    if (walk.isTooMuch) break;
    await turns.pause();
  }
}

class Walk {
  readonly observations: Observation[] = [];
  readonly gaps = noGaps();
  readonly leftOut: string[] = [];
  /** Rules in a known directory have changed. */
  rulesChanged = false;
  #entries = 0;
  readonly #context: WalkContext;
  /** Undefined: everywhere. */
  readonly #places: WalkPlaces | undefined;
  /** Known paths that have been looked at, so that nothing is told twice. */
  readonly #seen = new Set<string>();
  /** Known directories below which nothing of this tree stands any more. */
  readonly #cutOff = new Set<string>();
  #rootStat: EntryStat | undefined;

  constructor(context: WalkContext, places: WalkPlaces | undefined) {
    this.#context = context;
    this.#places = places;
  }

  get isTooMuch(): boolean {
    return this.#entries > this.#context.maxEntries;
  }

  start(isWhole: boolean): Step | undefined {
    const { root, tree, ignore } = this.#context;
    const stat = statOf(root);
    if (stat === undefined || stat === 'refused') {
      this.gaps.unreadable.push('');
      return undefined;
    }
    this.#rootStat = stat;
    const isRelisted = ignore.refreshAbove();
    for (const path of ignore.changedAbove()) this.gaps.rules.push(path);
    return { path: '', node: tree.root, stat, isRelisted, wasOut: false, isWhole };
  }

  /** Looks at one known path; gives the step where it is a directory to go into. */
  place(path: string): Step | undefined {
    if (this.#seen.has(path) || this.#isCutOff(path)) return undefined;
    const slash = path.lastIndexOf('/');
    const directory = slash === -1 ? '' : path.slice(0, slash);
    const node = this.#context.tree.find(directory);
    const step = { path: directory, node, isRelisted: false, wasOut: false, isWhole: false };
    return this.entry(step, path.slice(slash + 1));
  }

  result(): WalkResult {
    const { observations, gaps, leftOut, isTooMuch } = this;
    if (this.#rootStat !== undefined) noteRoot(this.#context.tree.root, this.#rootStat, gaps);
    return { observations, gaps, entries: this.#entries, leftOut, isTooMuch };
  }

  /** What is in a directory; tells what has gone from it. */
  names(step: Step): Iterable<string> {
    const { path, node, stat } = step;
    if (this.#haveRulesChanged(step)) {
      step.isRelisted = true;
      this.rulesChanged = true;
    }
    if (node?.children !== undefined && node.listedFor === stat.ctime && !step.isRelisted) {
      return step.isWhole ? [...node.children.keys()] : [];
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
        if (there.has(name)) continue;
        const gone = below(path, name);
        this.observations.push({ path: gone });
        this.#seen.add(gone);
        this.#cutOff.add(gone);
      }
      if (isRacyTime(stat.ctime, readAt)) delete node.listedFor;
      else node.listedFor = stat.ctime;
    }
    return names;
  }

  /** Tells what differs; gives the next step where it is a directory to go into. */
  entry(step: Omit<Step, 'stat'>, name: string): Step | undefined {
    const { root, ignore } = this.#context;
    const path = below(step.path, name);
    const node = step.node?.children?.get(name);
    if (node === undefined && ignore.isNever(path, name)) return undefined;
    this.#entries++;
    const known = node?.state.kind === 'directory' ? node : undefined;
    if (node !== undefined && this.#places !== undefined) this.#seen.add(path);
    const stat = statOf(`${root}/${path}`);
    if (stat === undefined) {
      if (known !== undefined) this.#cutOff.add(path);
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
    const isSame = known !== undefined && isSameDirectory(known, stat);
    this.#compare(path, node, stat, wasOut);
    if (!isDirectory || stat.dev !== this.#rootStat?.dev) {
      if (isDirectory) this.gaps.mounts.push(path);
      if (known !== undefined) this.#cutOff.add(path);
      return undefined;
    }
    // What is known of the names in it was known of another one.
    if (known !== undefined && !isSame) delete known.listedFor;
    const isWhole = step.isWhole || !isSame || this.#places?.unknown.has(path) === true;
    if (!isWhole && this.#places?.changed.has(path) !== true) return undefined;
    return { path, node: known, stat, isRelisted: step.isRelisted, wasOut, isWhole };
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

  #isCutOff(path: string): boolean {
    if (this.#cutOff.size === 0) return false;
    for (let at = path.indexOf('/'); at !== -1; at = path.indexOf('/', at + 1)) {
      if (this.#cutOff.has(path.slice(0, at))) return true;
    }
    return false;
  }

  #wasThere(path: string): boolean {
    const stat = lstatSync(`${this.#context.root}/${path}`, { throwIfNoEntry: false });
    if (stat === undefined) return false;
    const madeAt = stat.birthtimeMs > 0 ? stat.birthtimeMs : stat.ctimeMs;
    return madeAt < this.#context.lastLookAt;
  }

  #haveRulesChanged({ path, node, stat }: Step): boolean {
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

/** fail-closed: a number that is not exact may be that of another one. */
function isSameDirectory(node: TreeNode, stat: EntryStat): boolean {
  return node.ino === stat.ino && Number.isSafeInteger(stat.ino);
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
