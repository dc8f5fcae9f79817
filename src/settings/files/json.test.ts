import { describe, expect, it } from 'vitest';
import { parseLocatedJson } from './json.js';

describe('text that is not JSON', () => {
  it.each([
    ['{\n  // why\n  "a": 1\n}', 2, 'there is a comment, and JSON has no comments'],
    ['{"a": 1 /* x */}', 1, 'there is a comment, and JSON has no comments'],
    ['# x\n{}', 1, 'there is a comment, and JSON has no comments'],
    ['{"a": [\n1,\n]}', 3, 'there is a trailing comma before ]'],
    ['{"a": 1,\n}', 2, 'there is a trailing comma before }'],
    ["{'a': 1}", 1, 'there are single quotes where JSON wants double quotes'],
    ['{\n"a": {"b": 1', 2, 'the text ends too early: what line 2 opens is never closed'],
    ['{"a" 1}', 1, 'a colon is missing after "a"'],
    ['{"a": 1 "b": 2}', 1, 'a comma or } is missing'],
    ['{a: 1}', 1, 'a key is missing or not in double quotes'],
    ['{"a": "x\ny"}', 1, 'a text holds a line break or control character'],
    ['{"a": "C:\\dir"}', 1, 'a text holds a backslash that is not doubled'],
    ['{"a": undefined}', 1, 'a value is missing or is none'],
    ['{} {}', 1, 'there is something after the end of the value'],
    ['{"a": [{"__proto__": {}}]}', 1, 'the key "__proto__" is not accepted'],
    ['{"\\u005f_proto__": {}}', 1, 'the key "__proto__" is not accepted'],
    ['{"a": 1,\n"\\u12": 1}', 2, 'a text holds an escape that JSON does not have'],
    [`${'['.repeat(300)}${']'.repeat(300)}`, 1, 'it is nested too deeply'],
  ])('is named by its mistake: %j', (text, line, message) => {
    expect(parseLocatedJson(text)).toEqual({ ok: false, line, message });
  });
});

describe('JSON', () => {
  const text = '{\n  "a": {"b": [1,\n 2]},\n  "c": "x\\n\\u0041"\n}';

  it('is parsed with the line of each value', () => {
    const json = parseLocatedJson(`\uFEFF${text}`);
    if (!json.ok) throw new Error(json.message);
    expect(json.value).toEqual({ a: { b: [1, 2] }, c: 'x\nA' });
    expect([['a'], ['a', 'b', 0], ['a', 'b', 1], ['c'], ['d']].map(json.lineOf)).toEqual([
      2,
      2,
      3,
      4,
      undefined,
    ]);
    expect(json.duplicates).toEqual([]);
  });

  it('may hold a text with millions of escapes', () => {
    const json = `"${'\\n'.repeat(5_000_000)}"`;
    expect(parseLocatedJson(json)).toMatchObject({ ok: true, value: JSON.parse(json) });
  });

  it('tells which keys stand twice', () => {
    const json = parseLocatedJson('{"a": {"x": 1},\n"b": 1,\n"a": {"x": 2}}');
    expect(json.ok && json.duplicates).toEqual([{ path: ['a'], line: 3 }]);
  });

  it('of a thousand rules is located in no time', () => {
    const rules = Array.from({ length: 1000 }, (_, index) => `Bash(x${index} *)`);
    const json = parseLocatedJson(JSON.stringify({ permissions: { deny: rules } }, null, 1));
    if (!json.ok) throw new Error(json.message);
    const lines = rules.map((_, index) => json.lineOf(['permissions', 'deny', index]));
    expect(lines).toEqual(rules.map((_, index) => index + 4));
  });
});
