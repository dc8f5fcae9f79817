import { describe, expect, it } from 'vitest';
import { LineSplitter, MAX_JSON_DEPTH, parseJson } from './json.js';

const nested = (depth: number): string => '['.repeat(depth) + ']'.repeat(depth);

describe('parseJson', () => {
  it('takes what can be written out again and refuses deeper nesting', () => {
    const deepest = parseJson(nested(MAX_JSON_DEPTH));
    expect(deepest.ok && JSON.stringify(deepest.value)).toBe(nested(MAX_JSON_DEPTH));
    expect(parseJson(nested(MAX_JSON_DEPTH + 1))).toMatchObject({
      ok: false,
      error: expect.stringContaining('levels deep'),
    });
    expect(parseJson(`{"a":${nested(200_000)}}`).ok).toBe(false);
    expect(parseJson('{"a":'.repeat(100_000)).ok).toBe(false);
  });

  it('does not count brackets in strings', () => {
    const text = JSON.stringify({ code: '[{'.repeat(5000), quote: `\\"${'['.repeat(2000)}\\\\` });
    expect(parseJson(text)).toEqual({ ok: true, value: JSON.parse(text) });
    expect(parseJson(`["${'['.repeat(2000)}`).ok).toBe(false);
    expect(parseJson(`{"a\\\\":${nested(2000)}}`).ok).toBe(false);
  });

  it('still counts what closes again', () => {
    const list = `[${Array.from({ length: 5000 }, () => '{"a":[1]}').join(',')}]`;
    expect(parseJson(list).ok).toBe(true);
  });

  it('refuses a key that could reach a prototype', () => {
    expect(parseJson('{"a":{"__proto__":{"b":1}}}').ok).toBe(false);
    expect(parseJson('{"a":"__proto__"}').ok).toBe(true);
    for (const key of ['\\u005f_proto__', '__pr\\u006Fto__', '__pro\\u0074o__']) {
      expect(parseJson(`{"a":[{"${key}":{"b":1}}]}`).ok).toBe(false);
      expect(parseJson(`{"a":"${key}"}`)).toEqual({ ok: true, value: { a: '__proto__' } });
    }
  });
});

describe('LineSplitter', () => {
  it('gives whole lines whatever the pieces are', () => {
    const splitter = new LineSplitter(100);
    const push = (chunk: string) => [...splitter.push(chunk)];
    expect(push('a')).toEqual([]);
    expect(push('b\r\n\n\nc\nd')).toEqual(['ab', 'c']);
    expect(push('\n')).toEqual(['d']);
    expect(push('e')).toEqual([]);
    expect([...splitter.end()]).toEqual(['e']);
    expect([...splitter.end()]).toEqual([]);
  });

  it('drops a line that is too long, says so once and goes on with the next one', () => {
    const splitter = new LineSplitter(10);
    const push = (chunk: string) => [...splitter.push(chunk)];
    expect(push('a\n12345')).toEqual(['a']);
    expect(push('67890')).toEqual([]);
    expect(push('\n12345678901')).toEqual(['1234567890', undefined]);
    expect(push('2')).toEqual([]);
    expect(push('3\nb\n')).toEqual(['b']);
  });
});
