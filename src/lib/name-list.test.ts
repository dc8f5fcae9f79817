import { describe, expect, it } from 'vitest';
import { inOrder, NameList } from './name-list.js';
import { sortedNames } from './sorted-names.js';

const list = (...names: string[]) => NameList.of(sortedNames(names));
const namesOf = (lists: readonly NameList[]) => lists.flatMap(({ names }) => names);

describe('names as one text', () => {
  it('are given back as they were', () => {
    for (const names of [[], ['a'], ['a', 'b']]) {
      const made = NameList.of(names);
      expect(made.names).toEqual(names);
      expect(made.count).toBe(names.length);
    }
  });
});

describe('names of several servers', () => {
  it('stand in one order, whatever the order of the servers', () => {
    const a = list('mcp__a__one', 'mcp__a__two');
    const b = list('mcp__b__one');
    expect(inOrder([b, a])).toEqual([a, b]);
    expect(inOrder([a, b])).toEqual([a, b]);
  });

  it('are mixed where two servers differ by case alone', () => {
    const lists = [list('mcp__A__a', 'mcp__A__c'), list('mcp__a__b', 'mcp__a__c')];
    const all = ['mcp__A__a', 'mcp__a__b', 'mcp__A__c', 'mcp__a__c'];
    expect(namesOf(inOrder(lists))).toEqual(all);
    expect(namesOf(inOrder([...lists].reverse()))).toEqual(all);
  });

  it('are as if sorted at once, whatever servers and tools are called', () => {
    const keys = ['a', 'A', 'a-b', 'a_b', 'ab', 'a_', 'B', 'z', 'Z-', '0'];
    const tools = ['x', 'X', '_x', '-', 'a__b', 'Zz', '9'];
    const lists = keys.map((key) => list(...tools.map((tool) => `mcp__${key}__${tool}`)));
    expect(namesOf(inOrder(lists))).toEqual(sortedNames(namesOf(lists)));
  });

  it('are none of servers that offer nothing', () => {
    expect(inOrder([])).toEqual([]);
    expect(namesOf(inOrder([list(), list('mcp__a__x'), list()]))).toEqual(['mcp__a__x']);
  });
});
