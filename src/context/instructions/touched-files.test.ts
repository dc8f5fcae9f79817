import { expect, it } from 'vitest';
import { readShell } from '../../permissions/shell/syntax/read.js';
import { filesShownBy } from './touched-files.js';

const shown = async (line: string) =>
  (await readShell(line, { cwd: '/p', home: '/h' })).commands.flatMap(filesShownBy);

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
  ["awk -F : '{print}' x", ['/p/x']],
  ['jq .a x.json', ['/p/x.json']],
  ['cat $x y', ['/p/y']],
  ['cat < sub/f', ['/p/sub/f']],
  ['wc a < /abs/f', ['/p/a', '/abs/f']],
  ['echo x > sub/new < sub/f', ['/p/sub/f']],
  ['cat a < /dev/null 2> /dev/null', ['/p/a']],
])('%s shows %j', async (line, expected) => {
  expect(await shown(line)).toEqual(expected);
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
  'cd $there && cat x',
])('%s shows nothing that is known', async (line) => {
  expect(await shown(line)).toEqual([]);
});
