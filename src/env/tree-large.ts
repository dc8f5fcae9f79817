import { availableParallelism } from 'node:os';
import { FindOutput, type FindPart, type FindSkips, findArguments, gnuFind } from './tree-find.js';
import { ignoreFileDirectory } from './tree-ignore.js';
import { type EntryStat, isSameEntry, type Observation, pathOf } from './tree-node.js';
import { divideTree } from './tree-parts.js';
import { type LargeTreeContext, Reading } from './tree-reading.js';
import { compareOutputs, readRecords } from './tree-records.js';
import {
  noGaps,
  noteRoot,
  statOf,
  type WalkGaps,
  type WalkResult,
  withTarget,
} from './tree-walk.js';
import { Turns } from './turns.js';

/** A division for every processor up to this many. */
const MOST_PARTS = 4;
/** Directories that are skipped by their path; more are skipped by their name where that is safe. */
const MOST_SKIPPED = 100;

type StandingGaps = Pick<WalkGaps, 'noText' | 'mounts'>;

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
  /** Directories that were passed over. */
  #leftOut: ReadonlySet<string> = new Set();
  #closed: readonly string[] = [];
  #standing: StandingGaps = noGaps();
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
    this.#leftOut = new Set(walked.leftOut);
  }

  /** A look was lost: the next one goes through everything. */
  distrust(): void {
    this.close();
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
    const { root, ignore } = this.#context;
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
    const skips = this.#chooseSkips();
    const outputs = await Promise.all(
      parts.map(({ starts, closed, output }) => {
        const part = { starts, closed: [...closed, ...this.#closed] };
        return output.collect(command, findArguments(part, skips), root);
      }),
    );
    const reading = new Reading(this.#context, rootStat.dev ?? 0, {
      names: new Set(skips.names),
      closed: new Set(this.#closed),
    });
    const turns = new Turns();
    const lists: (readonly string[])[] = [];
    for (const [at, output] of outputs.entries()) {
      const part = parts[at];
      if (output === undefined || part === undefined) return undefined;
      if (isWhole) await reading.takeAll(readRecords(output), turns);
      else {
        const difference = await compareOutputs(part.last, output, turns);
        await reading.takeAll(difference.changed, turns);
        lists.push(difference.gone);
      }
      part.last = output;
    }
    if (isWhole) lists.push(await reading.unseen(turns));
    // One list may be longer than a call takes arguments.
    const gone = lists.flat();
    if (reading.needsWalk || gone.some((path) => this.#isKnownIgnoreFile(path))) return undefined;
    const again = await this.#again(reading, turns);
    return again === undefined ? undefined : this.#result(reading, gone, again, rootStat);
  }

  #result(
    reading: Reading,
    gone: readonly string[],
    again: readonly Observation[],
    rootStat: EntryStat,
  ): WalkResult {
    const { tree } = this.#context;
    this.#isRead = true;
    this.#recheck.clear();
    const gaps = noGaps();
    noteRoot(tree.root, rootStat, gaps);
    if (reading.leftOut.length > 0) {
      this.#leftOut = new Set([...this.#leftOut, ...reading.leftOut]);
    }
    this.#standing = merged(this.#standing, reading.gaps);
    const known = gone.filter((path) => tree.find(path) !== undefined).map((path) => ({ path }));
    return {
      observations: [...known, ...reading.observations, ...again],
      gaps: { ...gaps, ...this.#standing, unreadable: this.#closed.slice() },
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

  /**
   * What cannot be decided by the outputs: it changed too lately, or became known in another way.
   * Undefined: rules are among it that have changed.
   */
  async #again({ seen }: Reading, turns: Turns): Promise<Observation[] | undefined> {
    const { root, tree, ignore } = this.#context;
    const paths = new Set(this.#recheck);
    for (const node of tree.racy) paths.add(pathOf(node));
    const observations: Observation[] = [];
    let count = 0;
    for (const path of paths) {
      if (++count % 64 === 0) await turns.pause();
      const node = tree.find(path);
      if (node === undefined || seen.has(path)) continue;
      const ruled = ignoreFileDirectory(path);
      if (ruled !== undefined && ignore.refresh(ruled)) return undefined;
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

function isOn(stat: ReturnType<typeof statOf>, dev: number | undefined): boolean {
  return stat !== undefined && stat !== 'refused' && stat.dev === dev;
}

/** What goes on to hold for later looks. */
function merged(one: StandingGaps, other: StandingGaps): StandingGaps {
  const both = (a: readonly string[], b: readonly string[]): string[] => [...new Set([...a, ...b])];
  return {
    noText: both(one.noText, other.noText),
    mounts: both(one.mounts, other.mounts),
  };
}
