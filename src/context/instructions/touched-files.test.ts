import { expect, it } from 'vitest';
import { filesShownBy } from './touched-files.js';

const shown = (line: string) =>
  filesShownBy({
    words: line.split(' ').map((word) => (/[$*]/.test(word) ? undefined : word)),
    directories: ['/p'],
  });

it.each([
  ['cat src/x.ts', ['/p/src/x.ts']],
  ['cat a b -', ['/p/a', '/p/b']],
  ['/bin/cat -n /abs/x', ['/abs/x']],
  ['head -1 h/f.txt', ['/p/h/f.txt']],
  ['head -n 5 h/f.txt', ['/p/h/f.txt']],
  ['head -n5 -- -x', ['/p/-x']],
  ['tail --lines 5 x', ['/p/x']],
  ['grep x g/f.txt', ['/p/g/f.txt']],
  ['grep -rn x g/f.txt h', ['/p/g/f.txt', '/p/h']],
  ['grep -e x g/f.txt', ['/p/g/f.txt']],
  ['grep -A 3 x g/f.txt', ['/p/g/f.txt']],
  ['grep --regexp=x g/f.txt', ['/p/g/f.txt']],
  ['rg -t ts pattern src/a.ts', ['/p/src/a.ts']],
  ['sed -n 1,5p x', ['/p/x']],
  ['awk -F : {print} x', ['/p/x']],
  ['jq .a x.json', ['/p/x.json']],
  ['cat $x y', ['/p/y']],
])('%s shows %j', (line, expected) => {
  expect(shown(line)).toEqual(expected);
});

it.each([
  'ls l',
  'cd g',
  'echo z',
  'touch x',
  'rm x',
  'grep x',
  'cat',
  'cat src/*.ts',
  'find . -name x',
])('%s shows nothing that is known', (line) => {
  expect(shown(line)).toEqual([]);
});

it('is not known where the place is not', () => {
  expect(filesShownBy({ words: ['cat', 'x'], directories: undefined })).toEqual([]);
  expect(filesShownBy({ words: [undefined, 'x'], directories: ['/p'] })).toEqual([]);
  expect(filesShownBy({ words: [], directories: ['/p'] })).toEqual([]);
  expect(filesShownBy({ words: ['cat', 'x'], directories: ['/p', '/q'] })).toEqual([
    '/p/x',
    '/q/x',
  ]);
});

it('counts what a redirection reads, whatever the program', () => {
  const redirected = (words: readonly string[], ...files: readonly string[]) =>
    filesShownBy({ words, directories: ['/p'], redirected: files });
  expect(redirected(['cat'], 'sub/f')).toEqual(['/p/sub/f']);
  expect(redirected(['wc', 'a'], '/abs/f')).toEqual(['/p/a', '/abs/f']);
  expect(redirected(['echo', 'x'], 'sub/new')).toEqual(['/p/sub/new']);
  expect(redirected([], 'sub/f')).toEqual(['/p/sub/f']);
  expect(redirected(['cat', 'a'], '/dev/null')).toEqual(['/p/a']);
});
