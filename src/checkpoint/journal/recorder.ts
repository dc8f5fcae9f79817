import { describeStoreError } from '../disk/state-files.js';
import type { Author, Change, Look, NodeState, TreeChange } from '../types.js';
import { candidatesFor, mayBeByPerson, spanOf, timeOf } from './attribution.js';
import type { CallWindow } from './call-window.js';
import type { JournalParts } from './change-log.js';
import type { Points } from './points.js';
import { sameState, whyNotStored } from './states.js';

/** Runs a session's scans and records the changes with their possible authors. */
export class Recorder {
  readonly #journal: JournalParts;
  readonly #points: Points;
  /** Windows that the next scan may attribute changes to: open, or ended since the last scan began. */
  readonly #windows = new Set<CallWindow>();
  /** The running scan and the queued one that serves all later requests. */
  #running: Promise<void> | undefined;
  #next: Promise<void> | undefined;
  /** When the last scan began. */
  #since: number;
  /** The durations of the last two scans, the newer first. */
  #lookMs: readonly [number, number] | undefined;
  /** Set while a rewind writes, because a scan would attribute its half to other authors. */
  #held: Promise<void> | undefined;
  readonly #unkept = new UnkeptFiles();
  /** States that a rewind wrote, which the next scan will find. */
  readonly #written = new Map<string, NodeState | undefined>();

  constructor(journal: JournalParts, points: Points) {
    this.#journal = journal;
    this.#points = points;
    this.#since = journal.clock.now();
  }

  /**
   * Resolves when a scan that begins after this call is recorded; never rejects. Requests during a scan share
   * the next one.
   */
  look(): Promise<void> {
    this.#next ??= (this.#running ?? Promise.resolve()).then(() => {
      this.#next = undefined;
      this.#running = this.#lookOnce().finally(() => {
        this.#running = undefined;
      });
      return this.#running;
    });
    return this.#next;
  }

  watch(window: CallWindow): void {
    this.#windows.add(window);
  }

  windows(): readonly CallWindow[] {
    return [...this.#windows];
  }

  /** Ends windows that cannot get further changes. */
  retire(windows: readonly CallWindow[]): void {
    for (const window of windows) {
      const { id, endedAt } = window;
      if (endedAt !== undefined) this.#journal.log.append({ t: 'end', window: id, at: endedAt });
      window.settle();
      this.#windows.delete(window);
    }
  }

  /** Resolves when no requested scan is pending. */
  async idle(): Promise<void> {
    await (this.#next ?? this.#running);
  }

  get isLooking(): boolean {
    return this.#running !== undefined || this.#next !== undefined;
  }

  /** The faster of the last two scans, to ignore a slow exception; 0 before the first. */
  get usualLookMs(): number {
    return this.#lookMs === undefined ? 0 : Math.min(...this.#lookMs);
  }

  /** Why some present contents cannot be restored, for people. */
  unkept(): readonly string[] {
    return this.#unkept.texts();
  }

  /** Runs `work` while no scan runs; new requests wait for it. */
  async without<T>(work: () => Promise<T>): Promise<T> {
    while (this.isLooking) await this.idle();
    let release = (): void => {};
    this.#held = new Promise((resolve) => {
      release = resolve;
    });
    try {
      return await work();
    } finally {
      this.#held = undefined;
      release();
    }
  }

  /** Announces a state that a rewind wrote and the journal has recorded. */
  expect(path: string, state: NodeState | undefined): void {
    this.#written.set(path, state);
  }

  async #lookOnce(): Promise<void> {
    await this.#held;
    const points = this.#points;
    const over = this.windows().filter(({ endedAt }) => endedAt !== undefined);
    const marked = points.turn;
    try {
      const look = await this.#journal.tracker.look();
      const took = look.finishedAt - look.startedAt;
      this.#lookMs = [took, this.#lookMs?.[0] ?? took];
      await this.#hearOthers();
      this.#write(look);
      const gaps = [...look.gaps, ...this.#unkept.texts()];
      if (gaps.length > 0) points.addGaps(gaps);
      this.#since = look.startedAt;
    } catch (thrown) {
      // Noted on the point, because a rewind to it may be incomplete.
      points.addGaps([`a look at the tree failed: ${describeStoreError(thrown)}`]);
    }
    points.settle(marked);
    this.retire(over);
  }

  /** Another terminal's rewind of this session is not an edit of the person. */
  async #hearOthers(): Promise<void> {
    for (const entry of await this.#journal.log.catchUp()) {
      if (entry.t !== 'rewind') continue;
      for (const { path, after } of entry.list) this.expect(path, after);
    }
  }

  #write(look: Look): void {
    const { log } = this.#journal;
    for (const { path, after } of look.changes) this.#unkept.note(path, after);
    const span = spanOf(look, this.#since);
    const windows = this.windows();
    let seq = log.history.lastSeq;
    const list = this.#unwritten(inOrder(look.changes)).map((found): Change => {
      const of = candidatesFor(found, span, windows);
      const { path, before, after } = found;
      const at = timeOf(found, span);
      const change = {
        seq: ++seq,
        path,
        // Without a usable time, the time of observation.
        at: at ?? span.finishedAt,
        before: before && { ...before },
        after: after && { ...after },
        messageId: this.#points.turnOf({ at, atLeast: turnBefore(of) }),
        authors: [
          ...of.map(({ author }) => author),
          ...(of.length === 0 || mayBeByPerson(found, span, of) ? [USER] : []),
        ],
        renamedFrom: span.renames.get(path),
      };
      for (const window of of) window.found.push(change);
      return change;
    });
    if (list.length > 0) log.append({ t: 'changes', list });
  }

  /** Drops the rewind's own writes and unchanged states. */
  #unwritten(changes: readonly TreeChange[]): TreeChange[] {
    const written = new Map(this.#written);
    this.#written.clear();
    return changes.flatMap((change) => {
      const own = written.has(change.path);
      const before = own ? written.get(change.path) : change.before;
      if (sameState(before, change.after)) return [];
      if (!own) return [change];
      // A scan may report a path twice.
      written.delete(change.path);
      return [{ ...change, before }];
    });
  }
}

const USER: Author = { kind: 'user' };

function turnBefore(windows: readonly CallWindow[]): number {
  return windows.length === 0 ? -1 : Math.min(...windows.map(({ turn }) => turn));
}

/** Sorts by time; the changes of one path keep their order. */
function inOrder(changes: readonly TreeChange[]): TreeChange[] {
  const latest = new Map<string, number>();
  return changes
    .map((change) => {
      const at = Math.max(change.at, latest.get(change.path) ?? 0);
      latest.set(change.path, at);
      return { change, at };
    })
    .sort((a, b) => a.at - b.at)
    .map(({ change }) => change);
}

const MOST_NAMED = 5;

/** Files in the tree whose content is not stored. */
class UnkeptFiles {
  readonly #why = new Map<string, string>();

  note(path: string, state: NodeState | undefined): void {
    const why = state === undefined ? undefined : whyNotStored(state);
    if (why === undefined) this.#why.delete(path);
    else this.#why.set(path, why);
  }

  /** Deterministic, so that an unchanged point needs no second amendment. */
  texts(): readonly string[] {
    const texts = [...this.#why]
      .slice(0, MOST_NAMED)
      .map(([path, why]) => `the bytes of ${JSON.stringify(path)} are not kept: ${why}`);
    if (this.#why.size > MOST_NAMED) texts.push('the bytes of more files are not kept');
    return texts;
  }
}
