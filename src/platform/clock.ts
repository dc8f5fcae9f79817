import { randomUuid } from './random.js';

/** Time and identity, injectable so that tests are deterministic. */
export interface Clock {
  now(): number;
  /** Milliseconds from an arbitrary start, never going backwards. */
  monotonic(): number;
  uuid(): string;
}

/** A timer of Node that is longer ends at once. */
export const LONGEST_TIMER_MS = 2 ** 31 - 1;

export const systemClock: Clock = {
  now: () => Date.now(),
  monotonic: () => performance.now(),
  uuid: randomUuid,
};
