import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { isoTime } from './iso-time.js';

describe('isoTime', () => {
  it('says each time as a date does, whatever was asked for before', () => {
    for (const time of [0, 1, 1, 0, 1_767_323_045_000, 1_767_323_045_001, 1_767_323_045_001]) {
      expect(isoTime(time)).toBe(new Date(time).toISOString());
    }
  });

  it('does so of times near each other, parts of a millisecond, and all others', () => {
    const near = fc.nat(3000).map((ms) => 1_767_323_045_000 + ms);
    const before = fc.nat(3000).map((ms) => -ms);
    const any = fc.double({ min: -8.64e15, max: 8.64e15, noNaN: true });
    const parts = fc.tuple(near, fc.double({ min: 0, max: 1, noNaN: true })).map(([a, b]) => a + b);
    fc.assert(
      fc.property(fc.array(fc.oneof(near, before, parts, any)), (times) => {
        for (const time of times) expect(isoTime(time)).toBe(new Date(time).toISOString());
      }),
    );
  });

  it('refuses what is no time, and goes on with the next', () => {
    expect(isoTime(5)).toBe('1970-01-01T00:00:00.005Z');
    expect(() => isoTime(Number.NaN)).toThrow(RangeError);
    expect(() => isoTime(Number.POSITIVE_INFINITY)).toThrow(RangeError);
    expect(isoTime(5)).toBe('1970-01-01T00:00:00.005Z');
  });
});
