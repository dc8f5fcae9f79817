import type { CheckpointNote, TrackerState } from '../types.js';
import type { ChangeLog } from './change-log.js';

const TITLE_LENGTH = 120;
const UNDER_WAY = 'the first index of the tree is not finished yet';
/** Our clock counts whole milliseconds and has cut off the rest; file systems may keep it. */
const CUT_OFF_MS = 1;

/** The points of a session: one for each message of the person. */
export class Points {
  readonly #log: Pick<ChangeLog, 'history' | 'append'>;
  /** Points up to here are behind a look: what later looks find came after them. */
  #settled: number;
  /** Something was written in this turn before the first index was there. */
  #wroteEarly = false;

  constructor(log: Pick<ChangeLog, 'history' | 'append'>) {
    this.#log = log;
    this.#settled = log.history.points.length - 1;
  }

  /** Position of the present turn; -1 before the first message. */
  get turn(): number {
    return this.#log.history.points.length - 1;
  }

  get current(): string | undefined {
    return this.#log.history.points[this.turn]?.messageId;
  }

  mark(
    { messageId, title, at }: { messageId: string; title: string; at: number },
    state: TrackerState,
  ): void {
    const { history } = this.#log;
    if (history.positionOf(messageId) >= 0) return;
    this.#wroteEarly = false;
    const gaps = state.kind === 'indexing' ? [UNDER_WAY, ...state.gaps] : state.gaps;
    this.#log.append({
      t: 'point',
      messageId,
      at,
      title: firstLine(title),
      complete: state.kind === 'ready' && gaps.length === 0,
      gaps,
    });
  }

  settle(position: number): void {
    this.#settled = Math.max(this.#settled, position);
  }

  /** The turn of a change: the newest message that is surely older than it. */
  turnOf(change: {
    readonly at: number | undefined;
    readonly atLeast: number;
  }): string | undefined {
    const { points } = this.#log.history;
    let position = Math.max(this.#settled, change.atLeast);
    for (let later = position + 1; later < points.length; later++) {
      const mark = points[later];
      const isSurelyOlder = change.at !== undefined && mark && mark.at + CUT_OFF_MS <= change.at;
      if (isSurelyOlder) position = later;
    }
    return points[position]?.messageId;
  }

  /** The present point shows less than everything. */
  addGaps(gaps: readonly string[]): void {
    const point = this.#present();
    const added = gaps.filter((gap) => !(point?.gaps ?? []).includes(gap));
    if (point === undefined || (added.length === 0 && !point.complete)) return;
    this.#amend(point, { complete: false, gaps: [...point.gaps, ...added] });
  }

  /** Somebody writes although the first index is not there: this point will never be whole. */
  writesEarly(why: string): void {
    this.#wroteEarly = true;
    this.addGaps([why]);
  }

  /** The first index is there. */
  indexed(state: TrackerState): void {
    const point = this.#present();
    if (point === undefined || this.#wroteEarly || !point.gaps.includes(UNDER_WAY)) return;
    const gaps = [...point.gaps.filter((gap) => gap !== UNDER_WAY), ...state.gaps];
    this.#amend(point, { complete: state.kind === 'ready' && gaps.length === 0, gaps });
  }

  #present(): CheckpointNote | undefined {
    return this.#log.history.points[this.turn];
  }

  #amend(
    { messageId }: CheckpointNote,
    { complete, gaps }: Pick<CheckpointNote, 'complete' | 'gaps'>,
  ): void {
    this.#log.append({ t: 'amend', messageId, complete, gaps });
  }
}

function firstLine(text: string): string {
  const line = text.trim().split(/\r?\n/, 1)[0] ?? '';
  return line.length > TITLE_LENGTH ? `${line.slice(0, TITLE_LENGTH - 1)}…` : line;
}
