import { describe, expect, it } from 'vitest';
import { filterLines } from './line-filter.js';

describe('filterLines', () => {
  it('keeps the lines that match', () => {
    expect(filterLines('an error\nfine\nERROR\nerror 2', '^.*error')).toEqual({
      ok: true,
      value: { lines: ['an error', 'error 2'], complete: true },
    });
    expect(filterLines('a\nb\nc', '(a|c)')).toMatchObject({ value: { lines: ['a', 'c'] } });
    expect(filterLines('a**b\na+b', '[*+]{2}|\\*\\*\\*')).toMatchObject({
      value: { lines: ['a**b'] },
    });
  });

  it('looks at the first part of a very long line only', () => {
    const line = `${'x'.repeat(300)}needle`;
    expect(filterLines(line, 'needle')).toMatchObject({ value: { lines: [] } });
  });

  it.each([
    '(',
    '(a+)+$',
    '(a|a)*b',
    '(?:a|a)+b',
    '((a+))*',
    '(x{2,})*',
    '(.)\\1',
    'a*a*a*b',
    `${'a?'.repeat(30)}${'a'.repeat(30)}`,
    'x'.repeat(301),
  ])('refuses %j', (pattern) => expect(filterLines('a'.repeat(300), pattern).ok).toBe(false));

  it('gives up on an expression that is slow all the same', () => {
    const text = Array.from({ length: 20_000 }, () => 'a'.repeat(300)).join('\n');
    expect(filterLines(text, 'a*a*b')).toMatchObject({ ok: true, value: { complete: false } });
  });
});
