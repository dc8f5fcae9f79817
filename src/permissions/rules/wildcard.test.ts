import { describe, expect, it } from 'vitest';
import { commandTokens, couldMatch, matches, mustMatch, segmentTokens } from './wildcard.js';

describe('wildcards of commands', () => {
  it.each([
    ['git *', 'git status', true],
    ['git * main', 'git push origin main', true],
    ['git * main', 'git push origin dev', false],
    ['*', '', true],
    ['a**b', 'ab', true],
    ['a.b', 'axb', false],
    ['a\\*b', 'a*b', true],
    ['a\\*b', 'axb', false],
    ['touch a\\(1\\)', 'touch a(1)', true],
    ['', '', true],
    ['', 'a', false],
  ])('%s against %s: %s', (pattern, text, expected) => {
    expect(matches(commandTokens(pattern), text)).toBe(expected);
  });

  it('knows what a beginning can still become', () => {
    const tokens = commandTokens('rm -rf *');
    expect(couldMatch(tokens, 'rm ')).toBe(true);
    expect(couldMatch(tokens, 'rm -rf /')).toBe(true);
    expect(couldMatch(tokens, 'ls ')).toBe(false);
    expect(mustMatch(tokens, 'rm -rf ')).toBe(true);
    expect(mustMatch(tokens, 'rm ')).toBe(false);
    expect(mustMatch(commandTokens('* --force'), 'git --force')).toBe(false);
  });

  it('takes no longer for patterns made to be slow', () => {
    const pattern = `${'*a'.repeat(200)}b`;
    expect(matches(commandTokens(pattern), 'a'.repeat(5000))).toBe(false);
  });
});

describe('wildcards of path segments', () => {
  it.each([
    ['*.ts', 'x.ts', true],
    ['*.ts', '.ts', true],
    ['?.ts', 'x.ts', true],
    ['?.ts', 'xy.ts', false],
    ['[a-c]x', 'bx', true],
    ['[!a-c]x', 'bx', false],
    ['[!a-c]x', 'dx', true],
    ['[]]x', ']x', true],
    ['[x', '[x', true],
    ['f[[:digit:]].md', 'f7.md', true],
    ['f[[:digit:]].md', 'fx.md', false],
    ['[![:alpha:]]😀x', '1😀x', true],
    ['[[:alpha:]😀]x', '😀x', true],
    ['\\*', '*', true],
    ['\\*', 'a', false],
  ])('%s against %s: %s', (pattern, text, expected) => {
    expect(matches(segmentTokens(pattern), text)).toBe(expected);
  });
});
