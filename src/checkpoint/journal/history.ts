import type { Change, CheckpointNote } from '../types.js';
import type { LogEntry, OutsideRecord, RewindRecord, WindowRecord } from './entry.js';

/** The entries of a session's journal, including the parent's. */
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

  /** Windows that began and never ended. */
  get unended(): readonly WindowRecord[] {
    return [...this.#open.values()];
  }

  /** The index of a message's point; -1 for unknown messages. */
  positionOf(messageId: string | undefined): number {
    return messageId === undefined ? -1 : (this.#positions.get(messageId) ?? -1);
  }

  add(entry: LogEntry): void {
    switch (entry.t) {
      case 'start':
        // The previous run is over, so its open windows are too.
        this.#open.clear();
        return;
      case 'point': {
        const { t: _, ...note } = entry;
        if (this.#positions.has(note.messageId)) return;
        this.#positions.set(note.messageId, this.points.length);
        this.points.push(note);
        return;
      }
      case 'amend': {
        const { messageId, complete, gaps } = entry;
        const position = this.positionOf(messageId);
        const point = this.points[position];
        if (point !== undefined) this.points[position] = { ...point, complete, gaps };
        return;
      }
      case 'begin':
        this.windows.push(entry);
        this.#open.set(entry.window, entry);
        return;
      case 'end':
        this.#open.delete(entry.window);
        return;
      case 'changes':
        this.#take(entry.list);
        return;
      case 'outside':
        this.outside.push(entry);
        return;
      case 'rewind':
        if (this.rewinds.some(({ id }) => id === entry.id)) return;
        this.rewinds.push(entry);
        this.#take(entry.list);
        return;
    }
  }

  /** The effective changes of each path, oldest first, without undone changes and rewinds; a redo restores them. */
  chains(): ReadonlyMap<string, readonly Change[]> {
    const gone = this.#takenBack();
    const chains = new Map<string, Change[]>();
    for (const change of this.changes) {
      if (gone.has(change.seq)) continue;
      const chain = chains.get(change.path);
      if (chain === undefined) chains.set(change.path, [change]);
      else chain.push(change);
    }
    return chains;
  }

  #takenBack(): ReadonlySet<number> {
    const gone = new Set<number>();
    const undoneBy = new Map<number, readonly number[]>();
    for (const { list } of this.rewinds) {
      for (const change of list) {
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

  #take(list: readonly Change[]): void {
    for (const change of list) {
      this.changes.push(change);
      this.#lastSeq = Math.max(this.#lastSeq, change.seq);
    }
  }
}
