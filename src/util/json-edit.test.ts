import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { appendToList } from './json-edit.js';

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
