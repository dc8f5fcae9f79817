import { describe, expect, it } from 'vitest';
import { parseIgnoreRules } from './ignore-rules.js';

/** `a/` names a directory. */
function verdict(rules: string, path: string): boolean | undefined {
  const names = path.replace(/\/$/, '').split('/');
  return parseIgnoreRules(rules).verdict(names, path.endsWith('/'));
}

describe('rules of an ignore file', () => {
  it.each([
    ['a', 'a', true],
    ['a', 'x/a', true],
    ['a', 'ab', undefined],
    ['/a', 'a', true],
    ['/a', 'x/a', undefined],
    ['a/', 'a', undefined],
    ['a/', 'a/', true],
    ['a/b', 'a/b', true],
    ['a/b', 'x/a/b', undefined],
    ['*.log', 'x/y.log', true],
    ['*.log', '.log', true],
    ['*.tar.gz', 'x.tar.gz', true],
    ['*.log', 'x.log.txt', undefined],
    ['*.log\n!keep.log', 'keep.log', false],
    ['!keep.log\n*.log', 'keep.log', true],
    ['**/a/b', 'x/y/a/b', true],
    ['**/a/b', 'a/b', true],
    ['a/**', 'a/x/y', true],
    ['a/**', 'a/', undefined],
    ['a/**/b', 'a/b', true],
    ['a/**/b', 'a/x/y/b', true],
    ['a/*/b', 'a/x/y/b', undefined],
    ['a/**/**/**/b', 'a/x/y/b', true],
    ['[ab].c', 'a.c', true],
    ['[!ab].c', 'a.c', undefined],
    ['[ab.c', '[ab.c', undefined],
    ['# a', '# a', undefined],
    ['\\#a', '#a', true],
    ['\\!a', '!a', true],
    ['a  ', 'a', true],
    ['a\\ ', 'a ', true],
    ['a\r', 'a', true],
    ['A', 'a', undefined],
    ['{a,b}', 'a', undefined],
    ['*', 'anything', true],
    ['**', 'anything', true],
    ['/*\n!/src', 'src/', false],
    ['\n\n', 'a', undefined],
    ['/', 'a', undefined],
    ['doc/*.txt', 'doc/a.txt', true],
    ['doc/*.txt', 'doc/sub/a.txt', undefined],
  ])('%j on %j: %s', (rules, path, expected) => {
    expect(verdict(rules, path)).toBe(expected);
  });

  it('takes time in proportion, whatever the pattern', () => {
    const rules = parseIgnoreRules(`${'*a'.repeat(200)}b\n${'**/a/'.repeat(100)}b`);
    const names = Array.from({ length: 200 }, () => 'a'.repeat(50));
    expect(rules.verdict([...names, 'a'.repeat(2000)], false)).toBeUndefined();
  });
});
