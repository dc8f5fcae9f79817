import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { appendToList, removeMember, setMember } from './json-edit.js';

const WAY = ['permissions', 'allow'];
const add = (text: string, ...items: unknown[]) => appendToList(text, WAY, items);

describe('appendToList', () => {
  it('goes on in the manner of a list with one item a line', () => {
    const text =
      '{\n\t"permissions": {\n\t\t"allow": [\n\t\t\t"A"\n\t\t],\n\t\t"deny": []\n\t}\n}\n';
    expect(add(text, 'B')).toBe(
      '{\n\t"permissions": {\n\t\t"allow": [\n\t\t\t"A",\n\t\t\t"B"\n\t\t],\n\t\t"deny": []\n\t}\n}\n',
    );
  });

  it('goes on in the manner of a list on one line', () => {
    const text = '{\n  "permissions": { "allow": ["A"],   "deny": ["x"] }, "z": 1\n}';
    expect(add(text, 'B', 'C')).toBe(
      '{\n  "permissions": { "allow": ["A", "B", "C"],   "deny": ["x"] }, "z": 1\n}',
    );
  });

  it('makes what is missing', () => {
    expect(add('{}', 'B')).toBe('{\n  "permissions": {\n    "allow": [\n      "B"\n    ]\n  }\n}');
    expect(add('{\n    "model": "x"\n}\n', 'B')).toBe(
      '{\n    "model": "x",\n    "permissions": {\n        "allow": [\n            "B"\n        ]\n    }\n}\n',
    );
    expect(add('{\n  "permissions": {\n    "deny": ["x"]\n  }\n}', 'B')).toBe(
      '{\n  "permissions": {\n    "deny": ["x"],\n    "allow": [\n      "B"\n    ]\n  }\n}',
    );
    expect(add('{"model":"x"}', 'B')).toBe('{"model":"x", "permissions": {"allow":["B"]}}');
    expect(add('{\n  "permissions": {\n    "allow": []\n  }\n}', 'B')).toBe(
      '{\n  "permissions": {\n    "allow": [\n      "B"\n    ]\n  }\n}',
    );
  });

  it('leaves a text alone whose values are of another kind', () => {
    expect(add('{"permissions": []}', 'B')).toBeUndefined();
    expect(add('{"permissions": {"allow": "A"}}', 'B')).toBeUndefined();
    expect(add('[]', 'B')).toBeUndefined();
  });

  it('takes the last of equal keys, as parsing does', () => {
    const edited = add('{"permissions":{"allow":["old"]},"permissions":{"allow":["A"]}}', 'B');
    expect(JSON.parse(edited ?? '')).toEqual({ permissions: { allow: ['A', 'B'] } });
  });

  it('changes nothing but the list, whatever the text', () => {
    // What JSON itself does not tell apart (-0 and 0) is the same here.
    const json = fc.jsonValue({ maxDepth: 3 }).map((value) => JSON.parse(JSON.stringify(value)));
    const permissions = fc.oneof(
      fc.record({ allow: fc.array(fc.string()), other: json }),
      fc.record({ other: json }),
    );
    fc.assert(
      fc.property(
        fc.oneof(fc.record({ a: json, permissions, 'b"\\': json }), fc.record({ a: json })),
        fc.constantFrom(undefined, 1, 2, 4, '\t'),
        fc.string(),
        (value, indent, item) => {
          const text = JSON.stringify(value, null, indent);
          const before = JSON.parse(text);
          const after = JSON.parse(appendToList(text, WAY, [item]) ?? 'null');
          const allow = before.permissions?.allow ?? [];
          expect(after).toEqual({
            ...before,
            permissions: { ...before.permissions, allow: [...allow, item] },
          });
        },
      ),
    );
  });
});

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

  it('does not go through what is not an object', () => {
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
