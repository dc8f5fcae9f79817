import { execFileSync } from 'node:child_process';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { shellWord } from './shell-word.js';

describe('a word for a shell', () => {
  it.each([
    ['plain', 'plain'],
    ['a.b-c_d:e@f/g', 'a.b-c_d:e@f/g'],
    ['', "''"],
    ['two words', "'two words'"],
    ['$(x)', "'$(x)'"],
    ["it's", "'it'\\''s'"],
    ['~', "'~'"],
  ])('%s', (word, quoted) => {
    expect(shellWord(word)).toBe(quoted);
  });

  it.skipIf(process.platform === 'win32')('is the word that the shell then sees', () => {
    const character = fc.constantFrom(...'ab $`"\'\\;&|<>(){}[]*?!~#=%\n\té');
    const words = fc.sample(
      fc.array(character, { maxLength: 12 }).map((all) => all.join('')),
      200,
    );
    const script = `printf '%s\\0' ${words.map(shellWord).join(' ')}`;
    const seen = execFileSync('/bin/sh', ['-c', script], { encoding: 'utf8' });
    expect(seen.split('\0').slice(0, -1)).toEqual(words);
  });
});
