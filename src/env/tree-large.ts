import { availableParallelism } from 'node:os';
import {
  type FindPart,
  type FindSkips,
  findArguments,
  gnuFind,
  readPaths,
  runFind,
} from './tree-find.js';
import { isSameEntry, pathOf } from './tree-node.js';
import { divideTree } from './tree-parts.js';
import type { ChangeTimes, LookBegin } from './tree-times.js';
import {
  statOf,
  type WalkContext,
  type WalkGaps,
  type WalkResult,
  walkPlaces,
} from './tree-walk.js';
import { Turns } from './turns.js';

/** A division for every processor up to this many. */
const MOST_PARTS = 4;
/** Directories that are skipped by their path; more are skipped by their name where that is safe. */
const MOST_SKIPPED = 100;

type StandingGaps = Pick<WalkGaps, 'noText' | 'mounts'>;

/** How a whole walk ended. */
type Walked = Pick<WalkResult, 'leftOut' | 'gaps'>;

export interface LargeTreeContext extends Omit<WalkContext, 'lastLookAt'> {
  readonly times: ChangeTimes;
}

/**
 * Looks at a large tree only where something has changed since the last look: processes of GNU find go
 * through all of it and name what has a later change time. A name that came, went or moved is one of a
 * directory that has changed. What is told follows from a look at these places.
 */
export class LargeTreeScan {
  readonly #context: LargeTreeContext;
  #parts: readonly FindPart[] | undefined;
  /** When the last look began. Undefined: the next one has to go through everything. */
  #last: LookBegin | undefined;
  /** Directories that were passed over. */
  #leftOut: ReadonlySet<string> = new Set();
  /** Directories that cannot be read. */
  #closed: readonly string[] = [];
  #standing: StandingGaps = { noText: [], mounts: [] };
  /** Paths that became known in another way: if it is a directory, what is in it may not be known. */
  readonly #recheck = new Set<string>();

  constructor(context: LargeTreeContext) {
    this.#context = context;
  }

  /** After a walk, which began at `begin`. What it passed over need not be gone into. */
  reset({ leftOut, gaps }: Walked, begin: LookBegin | undefined): void {
    this.#parts = undefined;
    this.#last = begin;
    this.#recheck.clear();
    this.#standing = { noText: merged(this.#standing.noText, gaps.noText), mounts: gaps.mounts };
    this.#closed = gaps.unreadable.filter((path) => path !== '');
    this.#leftOut = new Set(leftOut);
  }

  /** A look was lost: the next one goes through everything. */
  distrust(): void {
    this.#last = undefined;
  }

  recheck(path: string): void {
    this.#recheck.add(path);
  }

  /** Undefined: everything has to be walked through this time. */
  async scan(begin: LookBegin, lastLookAt: number): Promise<WalkResult | undefined> {
    const { times, tree } = this.#context;
    const since = this.#last === undefined ? undefined : times.since(this.#last, begin);
    const command = since === undefined ? undefined : await gnuFind();
    if (since === undefined || command === undefined) return undefined;
    const changed = await this.#changedSince(since, command);
    if (changed === undefined || this.#hasOpened(changed)) return undefined;
    // It changed so lately when it was read that the next change may bear the same time.
    for (const node of tree.racy) changed.add(pathOf(node));
    this.#leaveClosed(changed);
    const places = { changed, unknown: this.#recheck };
    const found = await walkPlaces({ ...this.#context, lastLookAt }, places);
    if (found !== undefined) return this.#result(found, begin);
    // Names that were read now, and are told by nobody.
    tree.distrustLists();
    return undefined;
  }

  /** What is known of a directory that cannot be read is neither there nor gone. */
  #leaveClosed(paths: Set<string>): void {
    if (this.#closed.length === 0) return;
    for (const path of paths) {
      if (this.#closed.some((one) => `${path}/`.startsWith(`${one}/`))) paths.delete(path);
    }
  }

  #result(found: WalkResult, begin: LookBegin): WalkResult {
    const { leftOut, gaps } = found;
    this.#last = begin;
    this.#recheck.clear();
    if (leftOut.length > 0) this.#leftOut = new Set([...this.#leftOut, ...leftOut]);
    this.#standing = {
      noText: merged(this.#standing.noText, gaps.noText),
      mounts: merged(this.#standing.mounts, gaps.mounts),
    };
    const standing = { ...this.#standing, unreadable: this.#closed.slice() };
    return { ...found, gaps: { ...gaps, ...standing } };
  }

  /** Undefined: not all of it could be seen. */
  async #changedSince(since: number, command: string): Promise<Set<string> | undefined> {
    const { root } = this.#context;
    const skips = this.#chooseSkips();
    const outputs = await Promise.all(
      this.#standingParts().map(({ starts, closed }) => {
        const part = { starts, closed: [...closed, ...this.#closed] };
        return runFind(command, findArguments(part, skips, since), root);
      }),
    );
    const paths = new Set<string>();
    const turns = new Turns();
    for (const output of outputs) {
      if (output === undefined) return undefined;
      for (const path of readPaths(output)) {
        paths.add(path);
        if (paths.size % 256 === 0) await turns.pause();
      }
    }
    return paths;
  }

  /** Whether a directory that could not be read is another one now, or has another mode. */
  #hasOpened(changed: ReadonlySet<string>): boolean {
    const { root, tree } = this.#context;
    return this.#closed.some((path) => {
      if (!changed.has(path)) return false;
      const node = tree.find(path);
      const stat = statOf(`${root}/${path}`);
      return node === undefined || typeof stat !== 'object' || !isSameEntry(node, stat);
    });
  }

  /** Without starting points that have gone: that is told by the names in the directory above. */
  #standingParts(): FindPart[] {
    const { root } = this.#context;
    this.#parts ??= this.#divide();
    const dev = devOf(root);
    return this.#parts.flatMap(({ starts, closed }) => {
      const standing = starts.filter((start) => devOf(`${root}/${start}`) === dev);
      return starts.length > 0 && standing.length === 0 ? [] : [{ starts: standing, closed }];
    });
  }

  #divide(): readonly FindPart[] {
    const count = Math.min(MOST_PARTS, availableParallelism());
    const closed = new Set([...this.#closed, ...this.#standing.mounts]);
    return divideTree(this.#context.tree.root, count, closed);
  }

  /**
   * By path while they are few; else by name, where no directory of that name is tracked. Chosen anew
   * for each look: what was passed over once may be tracked by now.
   */
  #chooseSkips(): FindSkips {
    const { tree, ignore } = this.#context;
    const all = [...ignore.excluded];
    // fail-closed: what is tracked is gone into, whatever it was before.
    for (const path of this.#leftOut) if (tree.find(path) === undefined) all.push(path);
    if (all.length <= MOST_SKIPPED) return { paths: all, names: [] };
    const nameOf = (path: string): string => path.slice(path.lastIndexOf('/') + 1);
    const free = all.map(nameOf).filter((name) => !tree.hasDirectoryNamed(name));
    const names = new Set([...new Set(free)].slice(0, MOST_SKIPPED));
    // More than that is gone into, and passed over then.
    const paths = all.filter((path) => !names.has(nameOf(path))).slice(0, MOST_SKIPPED);
    return { paths, names: [...names] };
  }
}

/** Undefined: no directory is there. */
function devOf(path: string): number | undefined {
  const stat = statOf(path);
  return typeof stat === 'object' && stat.kind === 'directory' ? stat.dev : undefined;
}

function merged(one: readonly string[], other: readonly string[]): string[] {
  return [...new Set([...one, ...other])];
}
