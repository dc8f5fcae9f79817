import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { removeMember, setMember } from './json-member.js';

describe('setting a member', () => {
  it.each([
    ['{}', ['a'], 1, '{\n  "a": 1\n}'],
    ['{"x":1}', ['a'], { b: 2 }, '{"x":1, "a": {"b":2}}'],
    ['{\n\t"x": 1\n}\n', ['a', 'b'], [], '{\n\t"x": 1,\n\t"a": {\n\t\t"b": []\n\t}\n}\n'],
    [
      '{\n  "a": {\n    "b": 1\n  }\n}',
      ['a', 'b'],
      { c: 1 },
      '{\n  "a": {\n    "b": {\n      "c": 1\n    }\n  }\n}',
    ],
  ])('%j %j', (text, way, value, expected) => {
    expect(setMember(text, way, value)).toBe(expected);
  });

  it('does not go through what is no object', () => {
    expect(setMember('{"a": []}', ['a', 'b'], 1)).toBeUndefined();
    expect(setMember('{"a": "x"}', ['a', 'b'], 1)).toBeUndefined();
  });
});

describe('removing a member', () => {
  it.each([
    ['{"a": 1}', ['a'], '{}'],
    ['{ "a": 1, "b": 2 }', ['a'], '{ "b": 2 }'],
    ['{ "a": 1, "b": 2 }', ['b'], '{ "a": 1 }'],
    ['{\n  "a": 1,\n  "b": 2,\n  "c": 3\n}\n', ['b'], '{\n  "a": 1,\n  "c": 3\n}\n'],
    ['{\n  "a": 1,\n  "c": 3\n}\n', ['c'], '{\n  "a": 1\n}\n'],
    ['{"s": {"a": 1}, "t": {"a": 2}}', ['t', 'a'], '{"s": {"a": 1}, "t": {}}'],
    ['{"a": 1, "b": 0, "a": 2}', ['a'], '{ "b": 0}'],
  ])('%j without %j', (text, way, expected) => {
    expect(removeMember(text, way)).toBe(expected);
  });

  it('says when there is none', () => {
    expect(removeMember('{"a": {}}', ['a', 'b'])).toBeUndefined();
    expect(removeMember('{}', ['toString'])).toBeUndefined();
  });
});

const key = fc.string({ maxLength: 6 }).filter((name) => name !== '__proto__');
const tables = fc.dictionary(key, fc.dictionary(key, fc.jsonValue({ maxDepth: 2 })));

describe('what is left', () => {
  it('is the same value but for the member, and comes back when that is removed', () => {
    fc.assert(
      fc.property(
        tables,
        key,
        key,
        fc.jsonValue({ maxDepth: 2 }),
        fc.constantFrom(undefined, '  ', '\t'),
        (table, outer, inner, value, indent) => {
          const text = JSON.stringify(table, null, indent);
          const set = setMember(text, [outer, inner], value) ?? '';
          const wanted = { ...table, [outer]: { ...table[outer], [inner]: value } };
          expect(JSON.parse(set)).toEqual(JSON.parse(JSON.stringify(wanted)));
          const removed = removeMember(set, [outer, inner]) ?? '';
          const { [inner]: _gone, ...rest } = table[outer] ?? {};
          expect(JSON.parse(removed)).toEqual(
            JSON.parse(JSON.stringify({ ...table, [outer]: rest })),
          );
        },
      ),
    );
  });
});
