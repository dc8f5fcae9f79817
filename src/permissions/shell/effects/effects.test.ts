import { describe, expect, it } from 'vitest';
import { describeEffects } from './describe.js';

const told = (code: string) => describeEffects(code, { cwd: '/proj', home: '/home/me' });

describe('what a command does', () => {
  it.each([
    ['echo a b', []],
    ['cat a.txt b.txt', ['read a.txt', 'read b.txt']],
    ['cat -n -- -x', ['read -x']],
    ['cat --numb a', ['unknown: the option --numb', 'read a']],
    ['cat --squeeze-blank=1 a', ['unknown: the option --squeeze-blank=1', 'read a']],
    ['cat "$x"', ['unknown: the value of "$x"', 'read "$x"']],
    ['head -n 5 a', ['read a']],
    ['head -5 a', ['read a']],
    ['head -n -x a', ['unknown: the option -n', 'read a']],
    ['sort -o out in', ['write out', 'read in']],
    ['sort -oout in', ['write out', 'read in']],
    ['sort *.txt', ['read *.txt', 'unknown: the value of *.txt']],
    ['sort src/*.txt', ['read src/*.txt']],
    ['grep -r * sub', ['read *', 'read sub and all below']],
    ['echo a *', ['read *']],
    ['uniq a b', ['read a', 'write b']],
    ['grep x a', ['read a']],
    ['grep -e x a', ['read a']],
    ['grep -f p a', ['read p', 'read a']],
    ['grep -r x', ['read . and all below']],
    ['grep -R x src', ['read src and all below, links followed']],
    [
      'rg --pre=./x y',
      ['run ./x with words of its input', 'unknown: the program --pre=./x', 'read . and all below'],
    ],
    ['rm -rf', ['unknown: the operand']],
    ['rm -rf a', ['delete a and all below']],
    ['cp a b', ['read a', 'write b', 'write b/a']],
    ['cp -t d a', ['write d', 'read a', 'write d/a']],
    ['mv a b', ['read a and all below', 'delete a and all below', 'write b', 'write b/a']],
    ['find . -name x', ['read . and all below']],
    ['find a -delete', ['read a and all below', 'delete a and all below']],
    [
      'find a -exec rm {} ;',
      ['read a and all below', 'run rm {} for each file found', 'delete {}'],
    ],
    ['find a -frob', ['read a and all below', 'unknown: the option -frob']],
    ['sed -n 1p a', ['read a']],
    ['sed -i s/a/b/ a', ['read a', 'write a']],
    ["curl -w '%output{>>x}y' u", ['unknown: the program curl', 'read u', 'write x']],
    ["sed 'w out' a", ["unknown: the code 'w out'", 'write out', 'read a']],
    ["awk '{print $1}' a", ['read a']],
    [
      'awk \'{print > "o"}\' a',
      ['run as code: {print > "o"}', 'unknown: the code \'{print > "o"}\'', 'read a'],
    ],
    ['git status -s', []],
    ['git diff a', ['read a']],
    ['git push', ['unknown: the subcommand push']],
    ['git -C d status', ['unknown: the subcommand -C', 'read d', 'read status']],
    ['timeout 5 cat a', ['run cat a', 'read a']],
    ['env X=1 cat a', ['unknown: the variable X=1', 'run cat a', 'read a']],
    ['xargs -0 rm', ['run rm with words of its input', 'unknown: the operand']],
    ['nice -n 3', ['unknown: the operand']],
    ['frob a', ['unknown: the program frob', 'read a']],
    ['cat < a > b', ['read a', 'write b']],
    ['cd - ; cat a', ['change the directory', 'read a', 'unknown: the directory of a']],
    ['npm ls --depth 0', []],
    ['npm install', ['unknown: the subcommand install']],
    ['node --version', []],
    ['node x.js', ['unknown: the operand x.js', 'unknown: the operand']],
  ])('%s', async (code, expected) => {
    expect(await told(code.replace(/ ;$/, ' \\;'))).toEqual(expected);
  });
});
