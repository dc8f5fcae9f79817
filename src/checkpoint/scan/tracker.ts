import { messageOf } from '../../errors.js';
import { Turns } from '../../platform/turns.js';
import { BlobStore as FileBlobStore } from '../disk/blob-store.js';
import { readTreeMemory, type TreeMemory, writeTreeMemory } from '../disk/index-file.js';
import { type EntryStat, isSameEntry, type Observation } from '../disk/known-tree.js';
import { openTreeScan, type TreeScan } from '../disk/scan.js';
import type { BlobId, BlobStore, Look, NodeState, TrackerState, TreeTracker } from '../types.js';
import { ContentQueue, type ContentTaker } from './content-queue.js';
import { Decider } from './decide.js';
import { excludedGaps, gapTexts } from './gaps.js';
import { KeptPaths } from './kept-paths.js';
import {
  type Applied,
  applyObservations,
  type Found,
  type Undecided,
  withRenames,
} from './tree-changes.js';

const DEFAULT_STORE_BYTES = 2 * 1024 ** 3;
const DEFAULT_FILE_BYTES = 50 * 1024 ** 2;
const DEFAULT_FILES = 300_000;

/** A store that an open tree can hold its contents in. */
export interface CheckpointStore extends BlobStore, ContentTaker {
  /** The contents named are needed for as long as the function that this gives is not called. */
  pin(ids: () => Iterable<BlobId>): () => void;
}

export interface BlobStoreOptions {
  /** Outside the project. Made when it is needed, 0700. */
  readonly directory: string;
  /** Bytes on disk from which on nothing more is taken. Default 2 GiB. */
  readonly maxBytes?: number;
}

/** Nothing is read or made before the first use. */
export function openBlobStore({ directory, maxBytes }: BlobStoreOptions): CheckpointStore {
  return new FileBlobStore({ directory, maxBytes: maxBytes ?? DEFAULT_STORE_BYTES });
}

export interface TrackerDeps {
  /** May be a link; the tracker's own `root` is the directory itself. */
  readonly root: string;
  readonly store: CheckpointStore;
  /** Where it is remembered which bytes files had, so that the next session need not read them. */
  readonly indexFile?: string;
  /** Absolute directories that are never tracked: where we keep our own state. */
  readonly exclude?: readonly string[];
  /** Default true. */
  readonly honourIgnoreFiles?: boolean;
  /** Longer files are named, their bytes not kept. Default 50 MiB. */
  readonly maxFileBytes?: number;
  /** A larger tree is not tracked at all. Default 300,000. */
  readonly maxFiles?: number;
}

/** The first index starts at once, in the background. */
export function openTracker(deps: TrackerDeps): TreeTracker {
  return new Tracker(deps);
}

class Tracker implements TreeTracker {
  readonly root: string;
  readonly ready: Promise<void>;
  readonly #deps: TrackerDeps;
  readonly #scan: TreeScan;
  readonly #contents: ContentQueue;
  readonly #decider: Decider;
  readonly #kept: KeptPaths;
  readonly #unpin: () => void;
  readonly #indexed: Promise<void>;
  readonly #maxFiles: number;
  #turn: Promise<unknown>;
  #kind: TrackerState['kind'] = 'indexing';
  #gaps: readonly string[] = [];
  #isClosed = false;
  /** Found since the last look by looks at single paths. */
  readonly #early: Found[] = [];
  /** Gaps that the next look tells. */
  readonly #untold: string[] = [];

  constructor(deps: TrackerDeps) {
    this.#deps = deps;
    this.#maxFiles = deps.maxFiles ?? DEFAULT_FILES;
    this.#scan = openTreeScan({
      root: deps.root,
      excluded: deps.exclude ?? [],
      honoursIgnoreFiles: deps.honourIgnoreFiles ?? true,
      maxEntries: 2 * this.#maxFiles,
    });
    this.root = this.#scan.root;
    this.#contents = new ContentQueue({
      store: deps.store,
      maxFileBytes: deps.maxFileBytes ?? DEFAULT_FILE_BYTES,
    });
    this.#decider = new Decider(this.#scan, this.#contents);
    this.#kept = new KeptPaths(this.#scan, this.#contents);
    this.#unpin = deps.store.pin(() => this.#blobs());
    this.#indexed = this.#firstIndex().catch((thrown: unknown) => this.#switchOff(String(thrown)));
    this.#turn = this.#indexed;
    this.ready = this.#indexed.then(() => this.#firstContents());
  }

  state(): TrackerState {
    return { kind: this.#kind, files: this.#scan.tree.files, gaps: this.#gaps };
  }

  look(): Promise<Look> {
    return this.#inTurn(() => this.#look());
  }

  keep(path: string): Promise<NodeState | undefined> {
    return this.#inTurn(async () => {
      const inside = this.#scan.inside(path);
      if (inside === undefined || this.#kind === 'off') return undefined;
      await this.#keep(inside);
      return this.known(inside);
    });
  }

  settled(): Promise<void> {
    return this.#contents.settled();
  }

  known(path: string): NodeState | undefined {
    const inside = this.#scan.inside(path);
    if (inside === undefined) return undefined;
    return (this.#scan.tree.find(inside) ?? this.#kept.find(inside))?.state;
  }

  async close(): Promise<void> {
    if (this.#isClosed) return;
    this.#isClosed = true;
    await this.#turn;
    await this.#contents.close();
    this.#unpin();
    const { indexFile } = this.#deps;
    if (indexFile !== undefined && this.#kind !== 'off') {
      await this.#remember(indexFile);
    }
  }

  /** One after the other; the first index goes before all. */
  #inTurn<T>(work: () => Promise<T>): Promise<T> {
    const turn = this.#turn.then(work);
    this.#turn = turn.catch(() => undefined);
    return turn;
  }

  async #firstIndex(): Promise<void> {
    const { indexFile, store } = this.#deps;
    const memory = indexFile === undefined ? undefined : readTreeMemory(indexFile);
    const { observations, gaps, isTooMuch } = await this.#scan.scan();
    const { tree } = this.#scan;
    const { undecided } = await applyObservations(tree, isTooMuch ? [] : observations, true);
    if (isTooMuch || tree.files > this.#maxFiles) {
      this.#switchOff(`there are more than ${this.#maxFiles} files`);
      return;
    }
    if (gaps.unreadable.includes('')) {
      this.#switchOff('the directory cannot be read');
      return;
    }
    this.#gaps = gapTexts(gaps);
    this.#untold.push(...excludedGaps(this.#scan.excluded.filter((at) => this.#scan.stat(at))));
    this.#decider.readLater(await withoutRemembered(undecided, memory, store), false);
  }

  async #firstContents(): Promise<void> {
    if (this.#kind === 'off') return;
    await this.#contents.drained();
    if (this.#isClosed) return;
    const missing = this.#missingContents();
    this.#gaps = [...this.#gaps, ...missing];
    if (this.#kind === 'indexing') this.#kind = this.#gaps.length > 0 ? 'partial' : 'ready';
    const { indexFile } = this.#deps;
    if (indexFile !== undefined) await this.#remember(indexFile);
  }

  /** A look at one path. What it finds is told by the next look of all, before what that finds itself. */
  async #keep(path: string): Promise<void> {
    const { tree } = this.#scan;
    const stat = this.#scan.stat(path);
    const isPassedOver =
      tree.find(path) === undefined && this.#scan.leavesOut(path, stat?.kind === 'directory');
    if (isPassedOver && !this.#kept.has(path)) return this.#kept.follow(path);
    if (isPassedOver) {
      const applied: Applied = { found: [], undecided: [] };
      this.#kept.lookAt(path, applied);
      for (const one of await this.#decider.decide(applied)) this.#early.push(one);
      return this.#contents.settled();
    }
    const known = tree.find(path);
    if (known?.state.kind === 'file' && stat !== undefined && isSameEntry(known, stat)) {
      const job = this.#decider.job(path, known);
      // It stands there as it was seen, but its turn has not come.
      if (job?.state.unstored === 'not-yet') await this.#contents.read(job);
      if (!known.isRacy) return;
    }
    const observations = this.#observationsTo(path, stat);
    const applied = await applyObservations(tree, observations, false);
    for (const one of await this.#decider.decide(applied)) this.#early.push(one);
    await this.#contents.settled();
  }

  /** With the directories on the way that no look has seen yet. */
  #observationsTo(path: string, stat: EntryStat | undefined): Observation[] {
    const observations: Observation[] = [];
    for (let at = path.indexOf('/'); at !== -1; at = path.indexOf('/', at + 1)) {
      const directory = path.slice(0, at);
      const found = this.#scan.stat(directory);
      if (this.#scan.tree.find(directory) !== undefined || found === undefined) continue;
      observations.push({ path: directory, stat: found });
    }
    return [...observations, stat === undefined ? { path } : { path, stat }];
  }

  async #look(): Promise<Look> {
    const startedAt = Date.now();
    if (this.#kind === 'off' || this.#isClosed) {
      return { startedAt, finishedAt: startedAt, changes: [], gaps: this.#gaps };
    }
    const gaps = this.#untold.splice(0);
    const found = await this.#takeIn(gaps);
    if (found === undefined || this.#scan.tree.files > this.#maxFiles) {
      this.#switchOff(`there are more than ${this.#maxFiles} files`);
    }
    if (found === undefined) {
      return { startedAt, finishedAt: Date.now(), changes: [], gaps: this.#gaps };
    }
    const changes = await withRenames([...this.#early.splice(0), ...found]);
    return { startedAt, finishedAt: Date.now(), changes, gaps };
  }

  /** Looks at all of the tree, and makes it known. Undefined: there is too much of it. */
  async #takeIn(gaps: string[]): Promise<Found[] | undefined> {
    const applied: Applied = { found: [], undecided: [] };
    try {
      const scanned = await this.#scan.scan();
      if (scanned.isTooMuch) return undefined;
      for (const gap of gapTexts(scanned.gaps)) gaps.push(gap);
      await applyObservations(this.#scan.tree, scanned.observations, false, applied);
      this.#kept.look(applied);
    } catch (thrown) {
      // What has been taken in is told; what has not is still unlike the tree, and found next time.
      this.#scan.markLost();
      gaps.push(`a look at the tree failed: ${messageOf(thrown)}`);
    }
    return this.#decider.decide(applied);
  }

  #remember(indexFile: string): Promise<void> {
    const { tree } = this.#scan;
    return writeTreeMemory(indexFile, tree.nodes(), tree.files);
  }

  #missingContents(): string[] {
    const counts = new Map<string, number>();
    for (const { state } of this.#scan.tree.nodes()) {
      if (state.kind !== 'file' || state.unstored === undefined) continue;
      counts.set(state.unstored, (counts.get(state.unstored) ?? 0) + 1);
    }
    return [...counts].map(([why, count]) => `the contents of ${count} files are not kept: ${why}`);
  }

  #switchOff(why: string): void {
    this.#kind = 'off';
    this.#gaps = [why];
  }

  *#blobs(): Iterable<BlobId> {
    for (const { state } of this.#scan.tree.nodes()) {
      if (state.kind === 'file' && state.blob !== undefined) yield state.blob;
    }
    yield* this.#kept.blobs();
  }
}

/** What an earlier session read and the store still has is not read again. */
async function withoutRemembered(
  files: readonly Undecided[],
  memory: TreeMemory | undefined,
  store: BlobStore,
): Promise<readonly Undecided[]> {
  if (memory === undefined) return files;
  const unread: Undecided[] = [];
  const turns = new Turns();
  for (const [index, one] of files.entries()) {
    if (index % 256 === 0) await turns.pause();
    const { state } = one.node;
    const blob = memory.blobOf(one.node);
    if (blob === undefined || state.kind !== 'file' || !(await store.has(blob))) unread.push(one);
    else {
      state.blob = blob;
      delete state.unstored;
    }
  }
  return unread;
}
