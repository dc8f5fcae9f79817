import { type Frame, tooLong, UNLIMITED } from './wire.js';

/**
 * Takes one frame, synchronously and in order. A returned promise means that the frame is taken but the reader
 * is behind; callers that can wait for it before they send more.
 */
export type Sink = (frame: Frame) => void | Promise<void>;

/** The one way out: lets frames through in order, keeps them back for a moment, knows when to wait. */
export interface Outlet {
  write(frame: Frame): void;
  /** What is written while `work` runs, kept back so that something else can go first. */
  collect(work: () => void): readonly Frame[];
  /** Undefined: go on. Otherwise resolves when the reader has caught up; never rejects. */
  ready(): Promise<void> | undefined;
  /** Why the reader could not be given this frame whole; undefined when it can. */
  tooLong(frame: Frame): string | undefined;
}

export function createOutlet(sink: Sink, limit = UNLIMITED): Outlet {
  let held: Frame[] | undefined;
  let full: Promise<void> | undefined;
  const send = (frame: Frame): void => {
    const behind = sink(frame);
    if (behind === undefined) return;
    const settled: Promise<void> = Promise.all([full, behind])
      // A reader that has gone away is waited for no longer.
      .catch(() => undefined)
      .then(() => {
        if (full === settled) full = undefined;
      });
    full = settled;
  };
  return {
    write(frame) {
      if (held === undefined) send(frame);
      else held.push(frame);
    },
    collect(work) {
      const kept: Frame[] = [];
      held = kept;
      try {
        work();
      } finally {
        held = undefined;
      }
      return kept;
    },
    ready: () => full,
    tooLong: (frame) => tooLong(frame, limit),
  };
}
