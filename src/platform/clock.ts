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
  monotonic: () => performance.now(),
  uuid: randomUuid,
};
