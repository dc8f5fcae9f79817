import { describe, expect, it } from 'vitest';
import { callableNames } from './session-info.js';

describe('the tools of a session', () => {
  const names = ['Read', 'mcp__a__x', 'mcp__a_b__x', 'mcp__c_d__x'];

  it('are all that can be called', () => {
    expect(callableNames(names, [{ name: 'a', state: 'connected' }])).toBe(names);
  });

  it('are without those of a server that is turned off', () => {
    const off = [
      { name: 'a', state: 'disabled' },
      { name: 'c d', state: 'disabled' },
      { name: 'a_b', state: 'pending' },
    ] as const;
    expect(callableNames(names, off)).toEqual(['Read', 'mcp__a_b__x']);
  });
});
