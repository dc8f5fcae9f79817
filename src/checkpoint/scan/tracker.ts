import { messageOf } from '../../errors.js';
import { Queue } from '../../lib/queue.js';
import { sha256 } from '../../platform/hash.js';
import { Turns } from '../../platform/turns.js';
import type { BlobStore } from '../disk/blob-store.js';
import { TreeIgnore } from '../disk/ignore.js';
import { readTreeMemory, writeTreeMemory } from '../disk/index-file.js';
import {
  type EntryStat,
  isSameEntry,
  isSameState,
  type KnownTree,
  nodeOf,
  parentOf,
  pathInside,
  readSteady,
  realOrSame,
  statInside,
  type TreeNode,
} from '../disk/tree.js';
import { gapText, type WalkResult, walkTree } from '../disk/walk.js';
import type { Look, NodeState, NotStoredReason, TrackerState, TreeChange } from '../types.js';

/** Tracks the state of a tree and stores its contents. */
export interface TreeTracker {
  readonly root: string;
  state(): TrackerState;
  /** Resolves when the first index and its contents are stored, or at once when tracking is off. Never rejects. */
  readonly ready: Promise<void>;
  /**
   * Scans the tree, reports changes and makes the result the known state. Scans run one at a time. Changed
   * contents are stored when it resolves, or reported as missing.
   */
  look(): Promise<Look>;
  /** Stores the content of a path about to be written, even when it is ignored. */
  keep(path: string): Promise<NodeState | undefined>;
  /** The last known state of a path. */
  known(path: string): NodeState | undefined;
  close(): Promise<void>;
}

const DEFAULT_FILE_BYTES = 50 * 1024 ** 2;
const DEFAULT_FILES = 300_000;

export interface TrackerDeps {
  /** May be a link; the tracker's own `root` is resolved. */
  readonly root: string;
  readonly store: BlobStore;
  /** Remembers file hashes, so that the next session need not reread unchanged files. */
  readonly indexFile?: string;
  /** Absolute directories never tracked, such as our own state. */
  readonly exclude?: readonly string[];
  /** Default true. */
  readonly honourIgnoreFiles?: boolean;
  /** The content of longer files is not stored. Default 50 MiB. */
  readonly maxFileBytes?: number;
  /** A larger tree is not tracked at all. Default 300,000. */
  readonly maxFiles?: number;
}

/** Starts the first index in the background. */
export function openTracker(deps: TrackerDeps): TreeTracker {
  return new Tracker(deps);
}

class Tracker implements TreeTracker {
  readonly root: string;
  readonly ready: Promise<void>;
  readonly #deps: TrackerDeps;
  readonly #ignore: TreeIgnore;
  readonly #tree: KnownTree = new Map();
  /** Ignored paths that calls announced to write; undefined when nothing existed. */
  readonly #kept = new Map<string, TreeNode | undefined>();
  readonly #maxFiles: number;
  /** Runs one scan at a time, the first index before all. */
  readonly #queue = new Queue();
  #kind: TrackerState['kind'] = 'indexing';
  #gaps: readonly string[] = [];
  #isClosed = false;
  /** Everything in the tree except directories. */
  #files = 0;
  #walks = 0;
  #lastWalkAt = 0;
  /** The last walk's result was not fully processed, so the next one compares with the same earlier rules. */
  #isLost = false;
  /** Changes that scans of single paths found since the last scan. */
  readonly #early: TreeChange[] = [];
  /** Gaps for the next scan to report. */
  readonly #untold: string[] = [];

  constructor(deps: TrackerDeps) {
    this.#deps = deps;
    this.#maxFiles = deps.maxFiles ?? DEFAULT_FILES;
    this.root = realOrSame(deps.root);
    this.#ignore = new TreeIgnore(this.root, {
      honoursFiles: deps.honourIgnoreFiles ?? true,
      excluded: (deps.exclude ?? []).map(realOrSame),
    });
    const indexed = this.#queue.add(() =>
      this.#firstIndex().catch((thrown: unknown) => this.#switchOff(String(thrown))),
    );
    this.ready = indexed.then(() => this.#firstContents());
  }

  state(): TrackerState {
    return { kind: this.#kind, files: this.#files, gaps: this.#gaps };
  }

  look(): Promise<Look> {
    return this.#queue.add(() => this.#look());
  }

  keep(path: string): Promise<NodeState | undefined> {
    return this.#queue.add(async () => {
      const inside = this.#inside(path);
      if (inside === undefined || this.#kind === 'off') return undefined;
      await this.#keep(inside);
      return this.known(inside);
    });
  }

  known(path: string): NodeState | undefined {
    const inside = this.#inside(path);
    if (inside === undefined) return undefined;
    return (this.#tree.get(inside) ?? this.#kept.get(inside))?.state;
  }

  async close(): Promise<void> {
    if (this.#isClosed) return;
    this.#isClosed = true;
    await this.#queue.idle();
    await this.ready;
    if (this.#kind !== 'off') await this.#remember();
  }

  async #firstIndex(): Promise<void> {
    const { indexFile, store } = this.#deps;
    const memory = indexFile === undefined ? undefined : readTreeMemory(indexFile);
    const { observations, gaps, isTooMuch, isClosed } = await this.#walk();
    if (isTooMuch) return this.#switchOff(this.#tooMany());
    if (isClosed) return this.#switchOff('the directory cannot be read');
    const turns = new Turns();
    for (const { path, stat } of observations) {
      await turns.pause();
      const node = nodeOf(stat, this.#walks);
      this.#put(path, node);
      // Content from an earlier session that is still stored is not reread.
      const known = stat.kind === 'file' ? memory?.get(stat.ino) : undefined;
      if (known?.ctime !== stat.ctime || known.size !== stat.size) continue;
      if (!(await store.has(known.blob))) continue;
      node.state = { kind: 'file', size: stat.size, mode: stat.mode, blob: known.blob };
      node.hash = known.blob;
    }
    this.#isLost = false;
    if (this.#files > this.#maxFiles) return this.#switchOff(this.#tooMany());
    this.#gaps = gaps;
    const excluded = [...this.#ignore.excluded].filter((path) => statInside(this.root, path));
    if (excluded.length > 0) this.#untold.push(gapText('excluded', excluded));
  }

  async #firstContents(): Promise<void> {
    if (this.#kind === 'off') return;
    const turns = new Turns();
    for (const [path, node] of [...this.#tree]) {
      if (this.#isClosed) return;
      if (isUnread(node)) await this.#read(path, node);
      await turns.pause();
    }
    this.#gaps = [...this.#gaps, ...this.#missingContents()];
    if (this.#kind === 'indexing') this.#kind = this.#gaps.length > 0 ? 'partial' : 'ready';
    await this.#remember();
  }

  /** Scans one path; the next full scan reports the result first. */
  async #keep(path: string): Promise<void> {
    const node = this.#tree.get(path);
    const stat = statInside(this.root, path);
    if (node === undefined && this.#ignore.leavesOutWay(path, stat?.kind === 'directory')) {
      if (!this.#kept.has(path)) await this.#follow(path, stat);
      else await this.#lookAtKept(path, this.#early);
      return;
    }
    if (stat === undefined) {
      const below = node === undefined ? [] : this.#below(path);
      for (const at of [...below.reverse(), path]) this.#takeOut(at, this.#early);
      return;
    }
    if (node?.state.kind === 'file' && isSameEntry(node, stat)) {
      // The path is unchanged, but its content was not stored yet.
      if (isUnread(node)) await this.#read(path, node);
      if (!node.isRacy) return;
    }
    // Includes directories on the way that no scan has seen yet.
    for (let at = path.indexOf('/'); at !== -1; at = path.indexOf('/', at + 1)) {
      const directory = path.slice(0, at);
      const found = this.#tree.has(directory) ? undefined : statInside(this.root, directory);
      if (found !== undefined) await this.#takeIn(directory, found, this.#early);
    }
    await this.#takeIn(path, stat, this.#early);
  }

  /** Starts to track an ignored path and the directories created for it. */
  async #follow(path: string, stat: EntryStat | undefined): Promise<void> {
    for (let at = parentOf(path); at !== ''; at = parentOf(at)) {
      const isMissing = statInside(this.root, at) === undefined;
      if (isMissing && this.#ignore.leavesOutWay(at, true)) this.#kept.set(at, undefined);
    }
    const node = stat && nodeOf(stat, 0);
    this.#kept.set(path, node);
    if (node?.state.kind === 'file') await this.#read(path, node);
  }

  async #lookAtKept(path: string, found: TreeChange[]): Promise<void> {
    const known = this.#kept.get(path);
    const stat = statInside(this.root, path);
    if (stat !== undefined) {
      if (known !== undefined && !known.isRacy && isSameEntry(known, stat)) return;
      const { node, change } = await this.#compare(path, known, stat);
      this.#kept.set(path, node);
      if (change !== undefined) found.push(change);
    } else if (known !== undefined) {
      this.#kept.set(path, undefined);
      let at = parentOf(path);
      while (at !== '' && statInside(this.root, at) === undefined) at = parentOf(at);
      const goneAt = statInside(this.root, at)?.ctime ?? 0;
      found.push({ path, before: known.state, at: goneAt });
    }
  }

  async #look(): Promise<Look> {
    const startedAt = Date.now();
    if (this.#kind === 'off' || this.#isClosed) {
      return { startedAt, finishedAt: startedAt, changes: [], gaps: this.#gaps };
    }
    const found = this.#early.splice(0);
    const gaps = this.#untold.splice(0);
    let finishedAt: number | undefined;
    try {
      const walked = await this.#walk();
      finishedAt = Date.now();
      gaps.push(...walked.gaps);
      if (walked.isTooMuch) {
        this.#switchOff(this.#tooMany());
        return { startedAt, finishedAt, changes: [], gaps: this.#gaps };
      }
      const turns = new Turns();
      for (const { path, stat, isAdopted } of walked.observations) {
        await turns.pause();
        await this.#takeIn(path, stat, isAdopted ? [] : found);
      }
      for (const path of walked.gone) this.#takeOut(path, found);
      for (const path of [...this.#kept.keys()]) {
        if (this.#tree.has(path)) this.#kept.delete(path);
        else await this.#lookAtKept(path, found);
      }
      this.#isLost = false;
    } catch (thrown) {
      // Processed changes are reported; the rest still differs and is found next time.
      gaps.push(`a look at the tree failed: ${messageOf(thrown)}`);
    }
    if (this.#files > this.#maxFiles) this.#switchOff(this.#tooMany());
    return { startedAt, finishedAt: finishedAt ?? Date.now(), changes: found, gaps };
  }

  async #walk(): Promise<WalkResult> {
    const startedAt = Date.now();
    if (!this.#isLost) this.#ignore.startLook(this.#walks === 0);
    this.#isLost = true;
    const walked = await walkTree({
      root: this.root,
      tree: this.#tree,
      ignore: this.#ignore,
      maxEntries: 2 * this.#maxFiles,
      lastWalkAt: this.#lastWalkAt,
      number: ++this.#walks,
    });
    this.#lastWalkAt = startedAt;
    return walked;
  }

  async #takeIn(path: string, stat: EntryStat, found: TreeChange[]): Promise<void> {
    const known = this.#tree.get(path);
    if (known?.state.kind === 'directory' && stat.kind !== 'directory') {
      for (const below of this.#below(path).reverse()) this.#takeOut(below, found);
    }
    const { node, change } = await this.#compare(path, known, stat);
    this.#put(path, node);
    if (change !== undefined) found.push(change);
  }

  #takeOut(path: string, found: TreeChange[]): void {
    const node = this.#tree.get(path);
    if (node === undefined) return;
    this.#tree.delete(path);
    if (node.state.kind !== 'directory') this.#files--;
    // The removal time is the change time of the nearest remaining directory.
    let at = parentOf(path);
    while (at !== '' && this.#tree.get(at)?.state.kind !== 'directory') at = parentOf(at);
    found.push({ path, before: node.state, at: this.#tree.get(at)?.stat.ctime ?? 0 });
  }

  #put(path: string, node: TreeNode): void {
    const known = this.#tree.get(path);
    if (known !== undefined && known.state.kind !== 'directory') this.#files--;
    if (node.state.kind !== 'directory') this.#files++;
    this.#tree.set(path, node);
  }

  /** Reads the present state of a path, stores its content and compares it with the known state. */
  async #compare(
    path: string,
    known: TreeNode | undefined,
    stat: EntryStat,
  ): Promise<{ readonly node: TreeNode; readonly change?: TreeChange }> {
    const node = nodeOf(stat, this.#walks);
    // The unread content is lost.
    if (known !== undefined && isUnread(known)) lose(known, 'changed-while-read');
    if (stat.kind === 'file') await this.#read(path, node);
    const before = known?.state;
    if (known !== undefined && isSameState(known, node)) {
      // Content that could not be stored then may be stored now.
      if (before?.kind !== 'file' || before.blob !== undefined) node.state = known.state;
      return { node };
    }
    return { node, change: { path, before, after: node.state, at: stat.ctime } };
  }

  /** Stores a file's content; its state records the result. */
  async #read(path: string, node: TreeNode): Promise<void> {
    const { store, maxFileBytes = DEFAULT_FILE_BYTES } = this.#deps;
    const { state } = node;
    const content = await readSteady(`${this.root}/${path}`, node.stat, maxFileBytes);
    const hash = typeof content === 'string' ? undefined : sha256(content.bytes);
    const blob = typeof content === 'string' ? undefined : await store.put(content.bytes, hash);
    // A concurrent read or scan has replaced the state.
    if (node.state !== state) return;
    if (typeof content === 'string') return lose(node, content);
    node.hash = hash;
    node.isRacy = content.isRacy;
    const { size, mode } = node.stat;
    node.state = { kind: 'file', size, mode, blob };
    if (blob === undefined) lose(node, 'over-cap');
  }

  #below(path: string): string[] {
    return [...this.#tree.keys()].filter((one) => one.startsWith(`${path}/`));
  }

  #inside(path: string): string | undefined {
    return pathInside([this.#deps.root, this.root], path);
  }

  async #remember(): Promise<void> {
    const { indexFile } = this.#deps;
    if (indexFile !== undefined) await writeTreeMemory(indexFile, this.#tree.values());
  }

  #missingContents(): string[] {
    const counts = new Map<string, number>();
    for (const { state } of this.#tree.values()) {
      if (state.kind !== 'file' || state.unstored === undefined) continue;
      counts.set(state.unstored, (counts.get(state.unstored) ?? 0) + 1);
    }
    return [...counts].map(([why, count]) => `the contents of ${count} files are not kept: ${why}`);
  }

  #tooMany(): string {
    return `there are more than ${this.#maxFiles} files`;
  }

  #switchOff(why: string): void {
    this.#kind = 'off';
    this.#gaps = [why];
  }
}

function isUnread({ state }: TreeNode): boolean {
  return state.kind === 'file' && state.unstored === 'not-yet';
}

/** Records why a file's content is not stored. */
function lose(node: TreeNode, unstored: NotStoredReason): void {
  const { size, mode } = node.stat;
  node.state = { kind: 'file', size, mode, unstored };
  // Without content, only the file system's facts can show a change.
  if (unstored !== 'over-cap') node.isRacy = false;
}
