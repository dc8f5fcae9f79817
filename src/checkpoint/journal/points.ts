import type { CheckpointNote, TrackerState } from '../types.js';
import type { ChangeLog } from './change-log.js';

const TITLE_LENGTH = 120;
const UNDER_WAY = 'the first index of the tree is not finished yet';
/** Our clock truncates to milliseconds, while file systems may not. */
const CUT_OFF_MS = 1;

/** The points of a session, one per message of the person. */
export class Points {
  readonly #log: Pick<ChangeLog, 'history' | 'append'>;
  /** A scan has completed after the points up to here, so later findings are newer. */
  #settled: number;
  /** A call wrote in this turn before the first index was finished. */
  #wroteEarly = false;

  constructor(log: Pick<ChangeLog, 'history' | 'append'>) {
    this.#log = log;
    this.#settled = log.history.points.length - 1;
  }

  /** The index of the present turn; -1 before the first message. */
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

  /** The message of a change: the newest one certainly older than it. */
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

  /** Marks the present point as incomplete. */
  addGaps(gaps: readonly string[]): void {
    const point = this.#present();
    const added = gaps.filter((gap) => !(point?.gaps ?? []).includes(gap));
    if (point === undefined || (added.length === 0 && !point.complete)) return;
    this.#amend(point, { complete: false, gaps: [...point.gaps, ...added] });
  }

  /** A write began before the first index, so the present point stays incomplete. */
  writesEarly(why: string): void {
    this.#wroteEarly = true;
    this.addGaps([why]);
  }

  /** The first index is finished. */
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
