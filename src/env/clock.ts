import { randomUuid } from './random.js';

/** Time and identity, injectable so that tests are deterministic. */
export interface Clock {
  now(): number;
  /** Milliseconds from an arbitrary start, never going backwards. */
  monotonic(): number;
  uuid(): string;
}

export const systemClock: Clock = {
  now: () => Date.now(),
  monotonic,
  uuid: randomUuid,
};

const { hrtime } = process;

/** Not `performance.now()`: to load what is behind it takes a millisecond of every start. */
function monotonic(): number {
  const time = hrtime();
  // Asked some thirty times about every call; to take a list apart is a loop.
  return time[0] * 1e3 + time[1] / 1e6;
}
