import { describe, expect, it } from 'vitest';
import { isRacyTime } from './tree.js';

describe('a change time', () => {
  it('may be that of the next change too, for as long as the clock of files does not tick', () => {
    expect(isRacyTime(1_700_000_000_004.5, 1_700_000_000_020)).toBe(true);
    expect(isRacyTime(1_700_000_000_004.5, 1_700_000_000_025)).toBe(false);
  });

  it('of whole seconds may be that of any change in this second', () => {
    expect(isRacyTime(1_700_000_000_000, 1_700_000_000_999)).toBe(true);
    expect(isRacyTime(1_700_000_000_000, 1_700_000_001_020)).toBe(false);
  });
});
