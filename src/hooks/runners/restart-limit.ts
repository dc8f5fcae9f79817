import { seconds } from '../dispatch/hook-limit.js';

const MOST_ENDS = 3;
const WINDOW_MS = 10_000;
const PAUSE_MS = 10_000;

/** Keeps a program that ends again and again from being started for every question. */
export class RestartLimit {
  readonly #monotonic: () => number;
  #ends: number[] = [];
  #lastReason = '';
  #pausedUntil = Number.NEGATIVE_INFINITY;

  constructor(monotonic: () => number) {
    this.#monotonic = monotonic;
  }

  /** It has ended, or had to be ended. */
  ended(reason: string): void {
    const now = this.#monotonic();
    this.#lastReason = reason;
    this.#ends = [...this.#ends.filter((at) => now - at < WINDOW_MS), now];
    if (this.#ends.length < MOST_ENDS) return;
    this.#ends = [];
    this.#pausedUntil = now + PAUSE_MS;
  }

  /** Why it must not be started now; undefined when it may. */
  blocked(): string | undefined {
    const leftMs = this.#pausedUntil - this.#monotonic();
    if (leftMs <= 0) return undefined;
    const again = seconds(Math.ceil(leftMs / 1000) * 1000);
    return `it ended ${MOST_ENDS} times within ${seconds(WINDOW_MS)} and is not asked for another ${again}; last: ${this.#lastReason}`;
  }
}
