import { describe, expect, it } from 'vitest';
import { sortedNames } from '../util/sorted-names.js';
import { mergedNames } from './merged-names.js';

const sorted = (...names: string[]) => sortedNames(names);

describe('names of several servers', () => {
  it('stand in one order, whatever the order of the servers', () => {
    const a = sorted('mcp__a__one', 'mcp__a__two');
    const b = sorted('mcp__b__one');
    expect(mergedNames([b, a])).toEqual([...a, ...b]);
    expect(mergedNames([a, b])).toEqual([...a, ...b]);
  });

  it('are mixed where two servers differ by case alone', () => {
    const lists = [sorted('mcp__A__a', 'mcp__A__c'), sorted('mcp__a__b', 'mcp__a__c')];
    const all = ['mcp__A__a', 'mcp__a__b', 'mcp__A__c', 'mcp__a__c'];
    expect(mergedNames(lists)).toEqual(all);
    expect(mergedNames([...lists].reverse())).toEqual(all);
  });

  it('are as if sorted at once, whatever servers and tools are called', () => {
    const keys = ['a', 'A', 'a-b', 'a_b', 'ab', 'a_', 'B', 'z', 'Z-', '0'];
    const tools = ['x', 'X', '_x', '-', 'a__b', 'Zz', '9'];
    const lists = keys.map((key) => sorted(...tools.map((tool) => `mcp__${key}__${tool}`)));
    expect(mergedNames(lists)).toEqual(sortedNames(lists.flat()));
  });

  it('are none of servers that offer nothing', () => {
    expect(mergedNames([])).toEqual([]);
    expect(mergedNames([[], ['mcp__a__x'], []])).toEqual(['mcp__a__x']);
  });
});
