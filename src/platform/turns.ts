import { setImmediate as nextTurn, setTimeout } from 'node:timers/promises';

/** Resolves once all other pending work had its turn. */
export { nextTurn };

/** Resolves after `ms`, or rejects as soon as the signal aborts. */
export function abortableDelay(ms: number, signal: AbortSignal): Promise<void> {
  return setTimeout(ms, undefined, { signal });
}

/** Longest stretch for which long work may block other work. */
const SLICE_MS = 4;

/** Divides long work into short stretches. */
export class Turns {
  #until = performance.now() + SLICE_MS;

  /** Whether the stretch is used up. */
  isOver(): boolean {
    return performance.now() >= this.#until;
  }

  /** Lets other work run once the stretch is used up. */
  async pause(): Promise<void> {
    if (!this.isOver()) return;
    await nextTurn();
    this.#until = performance.now() + SLICE_MS;
  }
}
