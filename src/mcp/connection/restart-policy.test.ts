import { describe, expect, it } from 'vitest';
import { Backoff } from './restart-policy.js';

function rig(): { backoff: Backoff; pass(ms: number): void } {
  let now = 0;
  const backoff = new Backoff({
    backoffMs: 1000,
    maxBackoffMs: 30_000,
    stableMs: 30_000,
    monotonic: () => now,
  });
  return {
    backoff,
    pass: (ms) => {
      now += ms;
    },
  };
}

describe('the pause before a restart', () => {
  it('is none the first time, then doubles up to its limit', () => {
    const { backoff, pass } = rig();
    const waits: number[] = [];
    for (let end = 0; end < 9; end++) {
      backoff.ended(10);
      waits.push(backoff.waitMs());
      pass(backoff.waitMs());
    }
    expect(waits).toEqual([0, 1000, 2000, 4000, 8000, 16_000, 30_000, 30_000, 30_000]);
  });

  it('passes with time', () => {
    const { backoff, pass } = rig();
    backoff.ended(10);
    backoff.ended(10);
    pass(400);
    expect(backoff.waitMs()).toBe(600);
    pass(600);
    expect(backoff.waitMs()).toBe(0);
  });

  it('is forgotten after a long life, and on request', () => {
    const { backoff } = rig();
    for (let end = 0; end < 5; end++) backoff.ended(10);
    backoff.reset();
    expect(backoff.waitMs()).toBe(0);
    backoff.ended(10);
    backoff.ended(60_000);
    expect(backoff.waitMs()).toBe(0);
  });
});
