import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { gitignoreMatcher, isUniversal, splitPatterns } from './path-matcher.js';

const fits = (patterns: string | readonly string[], path: string): boolean =>
  gitignoreMatcher(typeof patterns === 'string' ? [patterns] : patterns)(path);

describe('patterns of rules', () => {
  it.each([
    ['**/*.ts', 'a.ts'],
    ['**/*.ts', 'src/deep/a.ts'],
    ['*.ts', 'src/a.ts'],
    ['src', 'src/a.ts'],
    ['src', 'pkg/src/a.ts'],
    ['src/', 'src/a.ts'],
    ['src/**', 'src/a/b.ts'],
    ['src/api/**', 'src/api/h.py'],
    ['/src', 'src/a.ts'],
    ['./src/*.ts', 'src/a.ts'],
    ['./src', 'src/a.ts'],
    ['src/*.{ts,tsx}', 'src/a.tsx'],
    ['{src,lib/{a,b}}/x.js', 'lib/b/x.js'],
    ['src/**/test/*.ts', 'src/test/a.ts'],
    ['src/**/test/*.ts', 'src/a/b/test/a.ts'],
    ['file[0-9].md', 'file7.md'],
    ['file[!0-9].md', 'filex.md'],
    ['SRC/*.TS', 'src/a.ts'],
    ['file[[:digit:]].md', 'file7.md'],
    ['[[:alpha:]]*.md', 'docs/Notes.md'],
    ['[[:upper:]]*.md', 'Notes.md'],
    ['[![:digit:]_]*.md', 'notes.md'],
    ['v[[:digit:].-]', 'v.'],
    ['[[:space:]]', ' '],
    ['[a[:]x', '[x'],
    ['[[:ab]x', ':x'],
    ['[]a]x', ']x'],
    ['[a-]x', '-x'],
    ['a?c', 'abc'],
    ['a\\*c', 'a*c'],
    ['.env*', '.env.local'],
    ['*', 'a/.hidden'],
  ])('%s fits %s', (pattern, path) => {
    expect(fits(pattern, path)).toBe(true);
  });

  it.each([
    ['src/*.ts', 'src/deep/a.ts'],
    ['src/*.ts', 'pkg/src/a.ts'],
    ['/src', 'pkg/src/a.ts'],
    ['./src', 'pkg/src/a.ts'],
    ['src/', 'src'],
    ['src/**', 'src'],
    ['lib', 'library/a.ts'],
    ['a?c', 'ac'],
    ['a*c', 'a/c'],
    ['[abc', '[abc'],
    ['[[:digit:]', '[[:digit:]'],
    ['file[[:digit:]].md', 'filex.md'],
    ['file[[:digit:]].md', 'file:].md'],
    ['[[:alpha:]]', 'é'],
    ['[![:alpha:]]', 'a'],
    ['[[:letters:]]', 'a'],
    ['[[:letters:]a]', 'a'],
    ['', 'a'],
    ['!src/**', 'src/a.ts'],
    ['src/**', '../src/a.ts'],
    ['{x}', 'x'],
  ])('%s does not fit %s', (pattern, path) => {
    expect(fits(pattern, path)).toBe(false);
  });

  it('take out again what an earlier one names', () => {
    const patterns = ['src/**', '!src/gen/**', 'src/gen/keep.ts'];
    expect(fits(patterns, 'src/a.ts')).toBe(true);
    expect(fits(patterns, 'src/gen/a.ts')).toBe(false);
    expect(fits(patterns, 'src/gen/keep.ts')).toBe(true);
  });

  it('do not let a broken one break the others', () => {
    expect(fits(['[abc', 'src/*.ts'], 'src/a.ts')).toBe(true);
  });

  it('keep braces that would become too many', () => {
    const bomb = '{a,b}'.repeat(30);
    expect(fits(bomb, 'a'.repeat(30))).toBe(false);
    expect(fits(bomb, bomb)).toBe(true);
    expect(fits([bomb, '*.ts'], 'x.ts')).toBe(true);
    // The budget is one for all patterns of a list: 512 fit, 512 more do not.
    const large = '{a,b}'.repeat(9);
    expect(fits([large], 'a'.repeat(9))).toBe(true);
    expect(fits([large, large.replaceAll('a', 'c')], 'c'.repeat(9))).toBe(false);
  });

  it.each([
    ['stars', '*a'.repeat(500), 'a'.repeat(500)],
    ['directories', '**/a/'.repeat(500), 'a/'.repeat(500)],
    ['braces', '{'.repeat(4_000), 'x'],
    ['long braces', `{${'a,'.repeat(100_000)}}`, 'a'],
  ])('take no endless time with many %s', (_what, pattern, path) => {
    expect(typeof fits(pattern, path)).toBe('boolean');
  });

  it('never throw', () => {
    const piece = fc.constantFrom(
      '*',
      '**',
      '/',
      '[',
      ']',
      '{',
      '}',
      ',',
      '!',
      '\\',
      '?',
      'a',
      '.',
      '-',
    );
    const texts = fc.array(piece, { maxLength: 20 }).map((parts) => parts.join(''));
    fc.assert(
      fc.property(fc.array(texts, { maxLength: 4 }), texts, (patterns, path) => {
        expect(typeof fits(patterns, path)).toBe('boolean');
      }),
    );
  });
});

it('knows the patterns that name everything', () => {
  const all = ['**', '*', '**/*', '**/**', './**', '/**', ' ** ', '.', './', '/'];
  expect(all.map(isUniversal)).toEqual(all.map(() => true));
  expect(['**/*.ts', 'src/**', '*.*', '', '***a', './a', '..'].some(isUniversal)).toBe(false);
});

it('splits a list at its commas', () => {
  expect(splitPatterns('src/a.txt, src/*.{ts,tsx} ,,{a,{b,c}}')).toEqual([
    'src/a.txt',
    'src/*.{ts,tsx}',
    '{a,{b,c}}',
  ]);
  expect(splitPatterns('')).toEqual([]);
});
