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

/** Asked some thirty times about every call, and this form makes no list for each answer. */
const nanoseconds = process.hrtime.bigint;

/** Not `performance.now()`: to load what is behind it takes a millisecond of every start. */
function monotonic(): number {
  return Number(nanoseconds()) / 1e6;
}
