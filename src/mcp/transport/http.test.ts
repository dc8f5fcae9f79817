import { describe, expect, it } from 'vitest';
import { streamPace } from './http.js';

describe('the pause before a stream is opened anew', () => {
  /** The time until a stream that closes immediately was opened this often. */
  function spent(times: number, askedMs: number, openMs = 0): number {
    let now = 0;
    const pace = streamPace(() => now);
    for (let at = 0; at < times; at++) now += pace(askedMs) + openMs;
    return now;
  }

  it('is never nothing, and grows for a server that wants none', () => {
    expect(spent(1, 0)).toBeGreaterThan(0);
    expect(spent(5, 0)).toBeGreaterThan(1_000);
    expect(spent(20, 0)).toBeGreaterThan(200_000);
  });

  it('is what the server asks for at first, and while its streams last', () => {
    expect(spent(2, 500)).toBe(1_000);
    expect(spent(10, 5_000, 60_000)).toBe(650_000);
  });
});
