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

/**
 * What still counts of each path, oldest first: without what rewinds took back, and without the rewinds
 * themselves. A redo makes it count again.
 */
export function chainsOf(history: History): ReadonlyMap<string, readonly Change[]> {
  const gone = takenBack(history);
  const chains = new Map<string, Change[]>();
  for (const change of history.changes) {
    if (gone.has(change.seq)) continue;
    const chain = chains.get(change.path);
    if (chain === undefined) chains.set(change.path, [change]);
    else chain.push(change);
  }
  return chains;
}

function takenBack(history: History): ReadonlySet<number> {
  const gone = new Set<number>();
  const undoneBy = new Map<number, readonly number[]>();
  for (const rewind of history.rewinds) {
    for (const change of rewind.list) {
      gone.add(change.seq);
      undoneBy.set(change.seq, change.undoes);
      for (const seq of change.undoes) {
        const brought = undoneBy.get(seq);
        if (brought === undefined) gone.add(seq);
        else for (const back of brought) gone.delete(back);
      }
    }
  }
  return gone;
}
