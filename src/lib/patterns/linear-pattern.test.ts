import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { linearPattern } from './linear-pattern.js';

function occurs(source: string, text: string, ignoreCase = false): boolean | string {
  const compiled = linearPattern(source, { ignoreCase });
  return compiled.ok ? compiled.value.test(text) : compiled.error;
}

describe('linear pattern', () => {
  it.each([
    ['Ba.*', 'Bash', true],
    ['^Ba', 'Bash', true],
    ['^ash', 'Bash', false],
    ['ash$', 'Bash', true],
    ['mcp__calc__*', 'mcp__calc__add', true],
    ['mcp__calc__*', 'mcp__other', false],
    ['Edit|Write', 'MultiEdit', true],
    ['^(Edit|Write)$', 'MultiEdit', false],
    ['^(?:Edit|Write|)$', '', true],
    ['^a{2,3}$', 'aaaa', false],
    ['^a{2,3}$', 'aaa', true],
    ['^a{2,}$', 'aaaaa', true],
    ['^a{2}$', 'a', false],
    ['[a-c]+x', 'abcx', true],
    ['^[^a-c]$', 'b', false],
    ['^[\\w-]+$', 'a-b_9', true],
    ['^\\d+\\.\\d$', '12.3', true],
    ['\\bBash\\b', 'a Bash b', true],
    ['\\bBash\\b', 'aBash', false],
    ['^x??y+?$', 'yy', true],
    ['\\x41\\u0042', 'AB', true],
    ['(?<name>a|b)c', 'bc', true],
    ['a{,2}', 'a{,2}', true],
    ['', 'anything', true],
  ])('%s in %s: %s', (source, text, expected) => {
    expect(occurs(source, text)).toBe(expected);
  });

  it('disregards case when asked to, in characters and in classes', () => {
    expect(occurs('^bash$', 'BASH', true)).toBe(true);
    expect(occurs('^[a-z]+$', 'BASH', true)).toBe(true);
    expect(occurs('^[^a-z]+$', 'BASH', true)).toBe(false);
    expect(occurs('^bash$', 'BASH')).toBe(false);
  });

  it.each([
    '[',
    '(',
    ')',
    '*a',
    'a**',
    'a{2}{3}',
    'a\\',
    '(?!a)b',
    '(?<=a)b',
    '(?i)a',
    '(a)\\1',
    '[z-a]',
    'a{999}',
    '(((a{200}){200}){200})',
    '\\k<n>',
    '^*',
  ])('refuses %s', (source) => {
    expect(occurs(source, 'a')).toBeTypeOf('string');
  });

  it('is not slow where backtracking would be', () => {
    const text = `${'a'.repeat(2_000)}!`;
    for (const source of ['(a+)+$', '(a|a)*$', '(.*)*x', '.*.*.*.*.*.*=']) {
      expect(occurs(`^${source}`, text)).toBe(false);
    }
  });

  it('agrees with the built-in expressions', () => {
    const piece = fc.constantFrom(
      'a',
      'b',
      '.',
      '[ab]',
      '[^a]',
      '\\w',
      '(a|b)',
      '(?:ab)?',
      'a*',
      'b+',
      '^',
      '$',
      '|',
      '(a*b)*',
      'a{1,2}',
    );
    fc.assert(
      fc.property(
        fc.array(piece, { maxLength: 6 }),
        fc.string({ unit: fc.constantFrom('a', 'b', 'A', '_', ' '), maxLength: 8 }),
        fc.boolean(),
        (pieces, text, ignoreCase) => {
          const source = pieces.join('');
          const expected = new RegExp(source, ignoreCase ? 'i' : '').test(text);
          expect(occurs(source, text, ignoreCase)).toBe(expected);
        },
      ),
      { numRuns: 2_000 },
    );
  });
});
