import { storeTroubleOf } from '../disk/state-files.js';
import type { Author, Change, Look, NodeState, TreeChange } from '../types.js';
import { candidatesFor, mayBeThePersons, spanOf, timeOf } from './attribution.js';
import type { CallWindow } from './call-window.js';
import type { JournalParts } from './change-log.js';
import type { Points } from './points.js';
import { sameState, whyNotStored } from './states.js';

/** Takes the looks of a session and writes down what they find, with who may have made it. */
export class Recorder {
  readonly #journal: JournalParts;
  readonly #points: Points;
  /** Those that a look may have to name: open, or ended after the look before it had begun. */
  readonly #windows = new Set<CallWindow>();
  /** The look that is being taken, and the one that answers all who asked meanwhile. */
  #running: Promise<void> | undefined;
  #next: Promise<void> | undefined;
  /** When the last look began. */
  #since: number;
  /** How long the last two looks took, the newer first. */
  #lookMs: readonly [number, number] | undefined;
  /** While a rewind writes: a look in between would take its half for somebody's work. */
  #held: Promise<void> | undefined;
  readonly #unkept = new UnkeptFiles();
  /** What a rewind has just written: the next look finds it again. */
  readonly #written = new Map<string, NodeState | undefined>();

  constructor(journal: JournalParts, points: Points) {
    this.#journal = journal;
    this.#points = points;
    this.#since = journal.clock.now();
  }

  /**
   * Resolves when a look that begins after this call has been written down. Never rejects. Looks are taken one
   * after the other; all who ask while one runs are answered by the next.
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

  /** Nothing found later can be theirs. */
  retire(windows: readonly CallWindow[]): void {
    for (const window of windows) {
      const { id, endedAt } = window;
      if (endedAt !== undefined) this.#journal.log.append({ t: 'end', window: id, at: endedAt });
      window.settle();
      this.#windows.delete(window);
    }
  }

  /** Resolves when nothing that was asked for so far is under way. */
  async idle(): Promise<void> {
    await (this.#next ?? this.#running);
  }

  get isLooking(): boolean {
    return this.#running !== undefined || this.#next !== undefined;
  }

  /** How long a look takes; one that was slow for another reason does not count. 0: nobody knows yet. */
  get usualLookMs(): number {
    return this.#lookMs === undefined ? 0 : Math.min(...this.#lookMs);
  }

  /** Why not everything that stands in the tree can be brought back, for a person. */
  unkept(): readonly string[] {
    return this.#unkept.texts();
  }

  /** Runs `work` with no look under way; those that are asked for meanwhile are taken after it. */
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

  /** A rewind has put this in place; the journal has it already. */
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
      // Said with the point: whoever wants to go back to it has to know.
      points.addGaps([`a look at the tree failed: ${storeTroubleOf(thrown)}`]);
    }
    points.settle(marked);
    this.retire(over);
  }

  /** A rewind of this session in another terminal is no edit of the person. */
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
        // Nothing surer is known than that it had happened when it was seen.
        at: at ?? span.finishedAt,
        before: before && { ...before },
        after: after && { ...after },
        messageId: this.#points.turnOf({ at, atLeast: turnBefore(of) }),
        authors: [
          ...of.map(({ author }) => author),
          ...(of.length === 0 || mayBeThePersons(found, span, of) ? [USER] : []),
        ],
        renamedFrom: span.renames.get(path),
      };
      for (const window of of) window.found.push(change);
      return change;
    });
    if (list.length > 0) log.append({ t: 'changes', list });
  }

  /** Without what a rewind wrote and what is as it was. */
  #unwritten(changes: readonly TreeChange[]): TreeChange[] {
    const written = new Map(this.#written);
    this.#written.clear();
    return changes.flatMap((change) => {
      const own = written.has(change.path);
      const before = own ? written.get(change.path) : change.before;
      if (sameState(before, change.after)) return [];
      if (!own) return [change];
      // A look may tell of a path twice.
      written.delete(change.path);
      return [{ ...change, before }];
    });
  }
}

const USER: Author = { kind: 'user' };

function turnBefore(windows: readonly CallWindow[]): number {
  return windows.length === 0 ? -1 : Math.min(...windows.map(({ turn }) => turn));
}

/** As they happened, as far as the times tell. Those of one path stay in the order of the look. */
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

/** More than these are not named. */
const MOST_NAMED = 5;

/** Files that stand in the tree and whose bytes are not in the store. */
class UnkeptFiles {
  readonly #why = new Map<string, string>();

  note(path: string, state: NodeState | undefined): void {
    const why = state === undefined ? undefined : whyNotStored(state);
    if (why === undefined) this.#why.delete(path);
    else this.#why.set(path, why);
  }

  /** For a person. The same for the same files, so that a point need not be amended twice. */
  texts(): readonly string[] {
    const texts = [...this.#why]
      .slice(0, MOST_NAMED)
      .map(([path, why]) => `the bytes of ${JSON.stringify(path)} are not kept: ${why}`);
    if (this.#why.size > MOST_NAMED) texts.push('the bytes of more files are not kept');
    return texts;
  }
}
