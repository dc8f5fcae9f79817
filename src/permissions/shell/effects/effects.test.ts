import { describe, expect, it } from 'vitest';
import { readShell } from '../read.js';
import type { Effect } from './effect.js';
import { effectsOf } from './effects.js';

/** One line an effect: `read a.txt`, `unknown option -o`. */
async function told(code: string): Promise<readonly string[]> {
  const { commands } = await readShell(code, { cwd: '/proj', home: '/home/me' });
  return commands.flatMap((command) => effectsOf(command).map(line));
}

function line(effect: Effect): string {
  switch (effect.kind) {
    case 'path': {
      const { recursion } = effect;
      const how = recursion === undefined ? '' : recursion.follows ? ' -R' : ' -r';
      return `${effect.access} ${effect.target.value}${how}`;
    }
    case 'run':
      return `run ${effect.words.map(({ value }) => value).join(' ')}${effect.fed === undefined ? '' : ' …'}`;
    case 'shell':
      return `shell ${effect.code.value}`;
    case 'code':
      return `code ${effect.text.value}`;
    case 'network':
      return 'network';
    case 'shell-state':
      return `shell-state ${effect.what}`;
    default:
      return `unknown ${effect.why}${effect.word === undefined ? '' : ` ${effect.word.raw}`}`;
  }
}

describe('what a command does', () => {
  it.each([
    ['echo a b', []],
    ['cat a.txt b.txt', ['read a.txt', 'read b.txt']],
    ['cat -n -- -x', ['read -x']],
    ['cat --numb a', ['unknown option --numb', 'read a']],
    ['cat --squeeze-blank=1 a', ['unknown option --squeeze-blank=1', 'read a']],
    ['cat "$x"', ['unknown word "$x"', 'read ']],
    ['head -n 5 a', ['read a']],
    ['head -5 a', ['read a']],
    ['head -n -x a', ['unknown option -n', 'read a']],
    ['sort -o out in', ['write out', 'read in']],
    ['sort -oout in', ['write out', 'read in']],
    ['sort *.txt', ['read *.txt', 'unknown word *.txt', 'read *.txt']],
    ['sort src/*.txt', ['read src/*.txt', 'read src/*.txt']],
    ['grep -r * sub', ['read *', 'read sub -r']],
    ['echo a *', ['read *']],
    ['uniq a b', ['read a', 'write b']],
    ['grep x a', ['read a']],
    ['grep -e x a', ['read a']],
    ['grep -f p a', ['read p', 'read a']],
    ['grep -r x', ['read . -r']],
    ['grep -R x src', ['read src -R']],
    ['rg --pre=./x y', ['run ./x …', 'unknown program --pre=./x', 'read . -r']],
    ['rm -rf', ['unknown operand']],
    ['rm -rf a', ['delete a -r']],
    ['cp a b', ['read a', 'write b', 'write b/a']],
    ['cp -t d a', ['write d', 'read a', 'write d', 'write d/a']],
    ['mv a b', ['read a -r', 'delete a -r', 'write b', 'write b/a']],
    ['find . -name x', ['read . -r']],
    ['find a -delete', ['read a -r', 'delete a -r']],
    ['find a -exec rm {} ;', ['read a -r', 'run rm {} …', 'delete {}']],
    ['find a -frob', ['read a -r', 'unknown option -frob']],
    ['sed -n 1p a', ['read a']],
    ['sed -i s/a/b/ a', ['write a']],
    ["sed 'w out' a", ["unknown script 'w out'", 'write out', 'read a']],
    ["awk '{print $1}' a", ['read a']],
    [
      'awk \'{print > "o"}\' a',
      ['code {print > "o"}', 'unknown script \'{print > "o"}\'', 'read a'],
    ],
    ['git status -s', []],
    ['git diff a', ['read a']],
    ['git push', ['unknown subcommand push']],
    ['git -C d status', ['unknown subcommand -C', 'read d', 'read status']],
    ['timeout 5 cat a', ['run cat a', 'read a']],
    ['env X=1 cat a', ['unknown assignment X=1', 'run cat a', 'read a']],
    ['xargs -0 rm', ['run rm …', 'unknown operand']],
    ['nice -n 3', ['unknown operand']],
    ['frob a', ['unknown program frob', 'read a']],
    ['cat < a > b', ['read a', 'write b']],
    ['cd - ; cat a', ['shell-state directory', 'read a', 'unknown directory a']],
    ['npm ls --depth 0', []],
    ['npm install', ['unknown subcommand install']],
    ['node --version', []],
    ['node x.js', ['unknown operand x.js', 'unknown operand']],
  ])('%s', async (code, expected) => {
    expect(await told(code.replace(/ ;$/, ' \\;'))).toEqual(expected);
  });
});
