import { Queue } from '../lib/queue.js';
import { describeStoreError } from './disk/state-files.js';
import { isInGit } from './disk/workspace-files.js';
import { resolveWriteTarget } from './disk/workspace-read.js';
import { CallWindow } from './journal/call-window.js';
import type { JournalParts } from './journal/change-log.js';
import { Points } from './journal/points.js';
import { Recorder } from './journal/recorder.js';
import { type Retention, tidyUp } from './retention.js';
import { type Candidate, candidatesOf, candidatesOfRedo, lastRewind } from './rewind/candidates.js';
import { diffOf } from './rewind/diff.js';
import { draftFor, presentPlan } from './rewind/plan.js';
import { carryOut } from './rewind/rewind.js';
import { passes, type Selection, selectionFor } from './rewind/target.js';
import type {
  Author,
  Change,
  ChangeFilter,
  CheckpointNote,
  NodeState,
  OpenWindow,
  RewindOptions,
  RewindPlan,
  RewindResult,
  RewindTarget,
  TrackerState,
} from './types.js';

export interface CheckpointOptions {
  /** How long `begin` waits for the index, scans and contents, in milliseconds. Default 1000. */
  readonly waitMs?: number | undefined;
  /** A tree whose last scan took less is also scanned before each call, in milliseconds. Default 50. */
  readonly smallLookMs?: number | undefined;
  /** The limits of age and number. Default 30 days and 100 points. */
  readonly retention?: Retention | undefined;
}

const WAIT_MS = 1_000;
const SMALL_LOOK_MS = 50;
const RETENTION = { days: 30, points: 100 };
/** How long a rewind waits for another program's rewind. */
const REWIND_WAIT_MS = 10_000;

const NO_LOOK_BEFORE =
  "the tree takes long to look at: edits of yours between two calls of one turn may count as the call's";

export class Checkpoints {
  readonly #journal: JournalParts;
  readonly #waitMs: number;
  readonly #smallLookMs: number;
  readonly #retention: Retention;
  /** Why the journal itself is incomplete, for people. */
  readonly #troubles: readonly string[];
  readonly #points: Points;
  readonly #recorder: Recorder;
  /** Runs one rewind at a time; `begin` waits for it. */
  readonly #rewinding = new Queue();
  #closed: Promise<void> | undefined;

  constructor(journal: JournalParts, options: CheckpointOptions, troubles: readonly string[]) {
    const { tracker, log } = journal;
    this.#journal = journal;
    this.#waitMs = options.waitMs ?? WAIT_MS;
    this.#smallLookMs = options.smallLookMs ?? SMALL_LOOK_MS;
    this.#retention = options.retention ?? RETENTION;
    this.#troubles = troubles;
    this.#points = new Points(log);
    this.#recorder = new Recorder(journal, this.#points);
    void tracker.ready.then(() => this.#points.indexed(tracker.state()));
  }

  /** The state for display, including the journal's own problems. */
  state(): TrackerState {
    const state = this.#journal.tracker.state();
    if (this.#troubles.length === 0) return state;
    const kind = state.kind === 'ready' ? 'partial' : state.kind;
    return { ...state, kind, gaps: [...state.gaps, ...this.#troubles] };
  }

  /** Records a point to rewind to for the person's message and starts a scan without waiting for it. */
  mark(messageId: string, title: string, at = this.#journal.clock.now()): void {
    const state = this.state();
    const gaps = [...new Set([...state.gaps, ...this.#recorder.unkept()])];
    this.#points.mark({ messageId, title, at }, { ...state, gaps });
    // A call that begins at once shares this scan.
    void this.#journal.tracker.ready.then(() => {
      if (this.#closed === undefined) void this.#recorder.look();
    });
  }

  points(): readonly CheckpointNote[] {
    return this.#journal.log.history.points.slice(-this.#retention.points);
  }

  /**
   * Announces a write. Resolves when the present contents are saved, or after `waitMs` with a note on the
   * point that it is partial. `paths` are the known targets.
   */
  async begin(author: Author, paths: readonly string[] = []): Promise<OpenWindow> {
    await this.#rewinding.idle();
    await this.#makeSafe(author, paths);
    const { log, clock } = this.#journal;
    const about = { id: clock.uuid(), author, turn: this.#points.turn };
    const window = new CallWindow(about, clock.now, () => void this.#recorder.look());
    this.#recorder.watch(window);
    const after = log.history.lastSeq;
    const messageId = this.#points.current;
    log.append({ t: 'begin', window: about.id, author, at: window.startedAt, after, messageId });
    return window;
  }

  /** Records a known change that the journal cannot undo. */
  outside(author: Author, what: string, why: string): void {
    const { log } = this.#journal;
    const messageId = this.#points.current;
    const key = JSON.stringify([messageId, author, what, why]);
    const isKnown = log.history.outside.some(
      (record) =>
        JSON.stringify([record.messageId, record.author, record.what, record.why]) === key,
    );
    if (isKnown) return;
    log.append({ t: 'outside', author, what, why, after: log.history.lastSeq, messageId });
  }

  async changes(filter: ChangeFilter = {}): Promise<readonly Change[]> {
    await this.#recorder.idle();
    const { history } = this.#journal.log;
    return history.changes.filter(passes(history, filter));
  }

  /** A unified diff of a change; undefined for binary content. */
  diff(change: Change): Promise<string | undefined> {
    return diffOf(change, this.#journal.store);
  }

  preview(target: RewindTarget): Promise<RewindPlan | { readonly why: string }> {
    return this.#rewinding.add(async () => {
      const trouble = this.#journal.workspace.trouble();
      if (trouble !== undefined) return { why: trouble };
      await this.#catchUp();
      const { history } = this.#journal.log;
      const selection = selectionFor(history, target);
      if (!selection.ok) return { why: selection.error };
      const draft = await draftFor(candidatesOf(history, selection.value), this.#journal);
      return this.#shown({ id: this.#journal.clock.uuid(), target, draft }, selection.value);
    });
  }

  rewind(target: RewindTarget, options: RewindOptions = {}): Promise<RewindResult> {
    return this.#alone(() => {
      const { history } = this.#journal.log;
      const selection = selectionFor(history, target);
      if (!selection.ok) return Promise.resolve(refused(selection.error));
      const candidates = candidatesOf(history, selection.value);
      return this.#takeBack({ target, candidates, selection: selection.value }, options);
    });
  }

  /** Undoes the last rewind. */
  redo(options: RewindOptions = {}): Promise<RewindResult> {
    return this.#alone(() => {
      const { history } = this.#journal.log;
      const last = lastRewind(history);
      if (last === undefined) return Promise.resolve(refused('there is no rewind to take back'));
      const candidates = candidatesOfRedo(history, last);
      const target = last.target ?? { kind: 'message', messageId: '' };
      return this.#takeBack({ target, candidates, of: last.id }, options);
    });
  }

  /** Waits for running scans, writes pending records and releases the tree. */
  close(): Promise<void> {
    this.#closed ??= this.#close();
    return this.#closed;
  }

  /** Waits until the present contents are saved, up to the deadline. */
  async #makeSafe(author: Author, paths: readonly string[]): Promise<void> {
    const { tracker, clock } = this.#journal;
    const deadline = clock.monotonic() + this.#waitMs;
    const left = (): number => deadline - clock.monotonic();
    if (tracker.state().kind === 'indexing' && !(await within(tracker.ready, left()))) {
      const who = author.kind === 'call' ? author.tool : author.kind;
      this.#points.writesEarly(`${who} began before the first index of the tree was finished`);
    }
    // A scan before the call saves the person's own edits from being overwritten or blamed on the call. In a
    // large tree the running scan after the last call serves for that.
    const isSmall = this.#recorder.usualLookMs < this.#smallLookMs;
    const isFresh = isSmall || this.#recorder.isLooking;
    const isSafe = await within(isSmall ? this.#recorder.look() : this.#recorder.idle(), left());
    if (isSafe && !isFresh) this.#points.addGaps([NO_LOOK_BEFORE]);
    const isKept = await within(Promise.all(paths.map((path) => this.#keep(author, path))), left());
    if (isSafe && isKept) return;
    this.#points.addGaps(['what stood in the tree before a call could not be kept in time']);
  }

  async #keep(author: Author, path: string): Promise<void> {
    const { root, tracker } = this.#journal;
    const place = resolveWriteTarget(root, path);
    if ('outside' in place) {
      this.outside(author, place.outside, 'it is outside the workspace');
      return;
    }
    if (isInGit(place.inside)) {
      this.outside(author, place.inside, "git's own files are not journalled");
      return;
    }
    try {
      await tracker.keep(place.inside);
    } catch (thrown) {
      this.#points.addGaps([`${path} could not be kept: ${describeStoreError(thrown)}`]);
    }
  }

  async #catchUp(): Promise<void> {
    await within(this.#journal.tracker.ready, this.#waitMs);
    await this.#recorder.look();
  }

  /** Runs the work with the workspace locked and all changes recorded. */
  #alone(work: () => Promise<RewindResult>): Promise<RewindResult> {
    return this.#rewinding.add(async () => {
      try {
        const held = await this.#journal.files.exclusive(REWIND_WAIT_MS, async () => {
          // fail-closed: the journal does not know a directory that replaced the root.
          const trouble = this.#journal.workspace.trouble();
          if (trouble !== undefined) return refused(trouble);
          await this.#catchUp();
          return work();
        });
        return held?.value ?? refused('another program rewinds this workspace at the moment');
      } catch (thrown) {
        return refused(describeStoreError(thrown));
      }
    });
  }

  async #takeBack(
    order: {
      readonly target: RewindTarget;
      readonly candidates: readonly Candidate[];
      readonly selection?: Selection;
      readonly of?: string;
    },
    { overwriteConflicts = false }: RewindOptions,
  ): Promise<RewindResult> {
    const { target, of } = order;
    const wanted = await draftFor(order.candidates, this.#journal, overwriteConflicts);
    const id = this.#journal.clock.uuid();
    const onWritten = (path: string, state: NodeState | undefined): void =>
      this.#recorder.expect(path, state);
    const { draft, failed } = await this.#recorder.without(() =>
      carryOut({ id, target, of, draft: wanted, onWritten }, this.#journal),
    );
    await this.#recorder.look();
    const plan = await this.#shown({ id, target, draft }, order.selection);
    return { kind: 'done', plan, failed };
  }

  #shown(
    about: Pick<Parameters<typeof presentPlan>[0], 'id' | 'target' | 'draft'>,
    selection?: Selection,
  ): Promise<RewindPlan> {
    const running = this.#recorder.windows().filter(({ endedAt }) => endedAt === undefined);
    const authors = running.map(({ author }) => author);
    return presentPlan({ ...about, selection, running: authors }, this.#journal);
  }

  async #close(): Promise<void> {
    const { tracker, log } = this.#journal;
    await this.#rewinding.idle();
    const windows = this.#recorder.windows();
    await (windows.length > 0 ? this.#recorder.look() : this.#recorder.idle());
    this.#recorder.retire(this.#recorder.windows());
    try {
      await tidyUp(this.#journal, this.#retention);
    } catch {
      // The cleanup runs again another day; nothing required is lost.
    }
    await tracker.close();
    log.close();
  }
}

function refused(why: string): RewindResult {
  return { kind: 'refused', why };
}

/** Whether a promise, which must not reject, resolved in time. */
async function within(promise: Promise<unknown>, ms: number): Promise<boolean> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const late = new Promise<false>((resolve) => {
    timer = setTimeout(() => resolve(false), Math.max(0, ms));
  });
  try {
    return await Promise.race([promise.then(() => true as const), late]);
  } finally {
    clearTimeout(timer);
  }
}
