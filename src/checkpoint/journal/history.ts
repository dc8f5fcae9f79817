import type { Author, Change, CheckpointNote, RewindTarget } from '../types.js';
import type { LogEntry, RewindChange } from './entry.js';

/** What the journal knows of a window in which somebody could write. */
export interface WindowRecord {
  readonly author: Author;
  readonly at: number;
  /** Number of the last change before it. */
  readonly after: number;
  readonly messageId?: string;
}

export interface OutsideRecord {
  readonly author: Author;
  readonly what: string;
  readonly why: string;
  readonly after: number;
  readonly messageId?: string;
}

export interface RewindRecord {
  readonly id: string;
  /** The rewind that this one took back. */
  readonly of?: string;
  readonly target?: RewindTarget;
  readonly list: readonly RewindChange[];
}

/** All that the journal of a session says, its parent's part included. */
export class History {
  readonly changes: Change[] = [];
  readonly points: CheckpointNote[] = [];
  readonly windows: WindowRecord[] = [];
  readonly outside: OutsideRecord[] = [];
  readonly rewinds: RewindRecord[] = [];
  readonly #positions = new Map<string, number>();
  readonly #open = new Map<string, WindowRecord>();
  #lastSeq = 0;

  get lastSeq(): number {
    return this.#lastSeq;
  }

  /** Windows that were begun and never ended. */
  get unended(): readonly WindowRecord[] {
    return [...this.#open.values()];
  }

  /** Position of a message among the points; -1 before the first and for unknown ones. */
  positionOf(messageId: string | undefined): number {
    if (messageId === undefined) return -1;
    return this.#positions.get(messageId) ?? -1;
  }

  add(entry: LogEntry): void {
    switch (entry.t) {
      case 'start':
        // Whoever ran before is gone: what it had begun ends here.
        this.#open.clear();
        return;
      case 'point': {
        const { t: _, ...note } = entry;
        if (this.#positions.has(note.messageId)) return;
        this.#positions.set(note.messageId, this.points.length);
        this.points.push(note);
        return;
      }
      case 'amend':
        this.#amend(entry);
        return;
      case 'begin': {
        const { t: _, window, ...record } = entry;
        this.windows.push(record);
        this.#open.set(window, record);
        return;
      }
      case 'end':
        this.#open.delete(entry.window);
        return;
      case 'changes':
        this.#take(entry.list);
        return;
      case 'outside': {
        const { t: _, ...record } = entry;
        this.outside.push(record);
        return;
      }
      case 'rewind':
        if (this.rewinds.some((known) => known.id === entry.id)) return;
        this.rewinds.push(rewindOf(entry));
        this.#take(entry.list);
        return;
    }
  }

  #amend(entry: Extract<LogEntry, { t: 'amend' }>): void {
    const position = this.positionOf(entry.messageId);
    const point = this.points[position];
    if (point === undefined) return;
    this.points[position] = { ...point, complete: entry.complete, gaps: entry.gaps };
  }

  #take(list: readonly Change[]): void {
    for (const change of list) {
      this.changes.push(change);
      this.#lastSeq = Math.max(this.#lastSeq, change.seq);
    }
  }
}

function rewindOf({ id, of, target, list }: Extract<LogEntry, { t: 'rewind' }>): RewindRecord {
  return {
    id,
    list,
    of,
    target,
  };
}
