import { describe, expect, it } from 'vitest';
import { RestartLimit } from './persistent.js';

function limitAt(): { limit: RestartLimit; to(ms: number): void } {
  let now = 0;
  return {
    limit: new RestartLimit(() => now),
    to: (ms) => {
      now = ms;
    },
  };
}

describe('RestartLimit', () => {
  it('pauses after three ends within ten seconds, and says so with the last reason', () => {
    const { limit, to } = limitAt();
    for (const at of [0, 4000, 9000]) {
      expect(limit.blocked()).toBeUndefined();
      to(at);
      limit.ended(`end at ${at}`);
    }
    expect(limit.blocked()).toBe(
      'it ended 3 times within 10 s and is not asked for another 10 s; last: end at 9000',
    );
    to(16_500);
    expect(limit.blocked()).toContain('another 3 s');
    to(19_000);
    expect(limit.blocked()).toBeUndefined();
  });

  it('forgets ends that are long past, and starts to count afresh after a pause', () => {
    const { limit, to } = limitAt();
    for (const at of [0, 9000, 18_000, 27_000]) {
      to(at);
      limit.ended('x');
      expect(limit.blocked()).toBeUndefined();
    }
    to(27_001);
    limit.ended('x');
    to(40_000);
    expect(limit.blocked()).toBeUndefined();
    limit.ended('x');
    limit.ended('x');
    expect(limit.blocked()).toBeUndefined();
    limit.ended('x');
    expect(limit.blocked()).toBeDefined();
  });
});
