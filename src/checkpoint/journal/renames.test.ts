import { describe, expect, it } from 'vitest';
import type { NodeState } from '../types.js';
import { renamesIn } from './attribution.js';

const file = (blob: string, size = 1): NodeState => ({ kind: 'file', size, mode: 0o644, blob });

describe('renames', () => {
  it('are seen by the same bytes where only one pair has them', () => {
    const found = renamesIn([
      { path: 'a', before: file('1'), at: 1 },
      { path: 'b', after: file('1'), at: 1 },
      { path: 'changed', before: file('1'), after: file('2'), at: 1 },
    ]);
    expect([...found]).toEqual([['b', 'a']]);
  });

  it('are not made up for copies and empty files', () => {
    const found = renamesIn([
      { path: 'a', before: file('1'), at: 1 },
      { path: 'b', after: file('1'), at: 1 },
      { path: 'c', after: file('1'), at: 1 },
      { path: 'old', before: file('0', 0), at: 1 },
      { path: 'new', after: file('0', 0), at: 1 },
    ]);
    expect(found.size).toBe(0);
  });

  it('are looked for in one go, however many files are alike', () => {
    const many = Array.from({ length: 200_000 }, (_, index) => ({
      path: `m/${index}`,
      after: file('same'),
      at: 1,
    }));
    expect(renamesIn(many).size).toBe(0);
  });
});
