import { describe, expect, it } from 'vitest';
import { benignExit, signalOfExit } from './bash-result.js';

describe('benignExit', () => {
  it.each([
    ['grep x file', 'No matches found'],
    ['cat a | grep -v "b | c"', 'No matches found'],
    ['cd src && rg foo', 'No matches found'],
    ['make || grep error log', 'No matches found'],
    ['make; /usr/bin/diff a b', 'Files differ'],
    ['LC_ALL=C grep x y # why', 'No matches found'],
    ['! test -f x', 'Condition is false'],
    ['[ -f x ]', 'Condition is false'],
    ['[[ -f x ]]', 'Condition is false'],
    ['find / -name x 2>&1', 'Some directories were inaccessible'],
    ['git diff --exit-code', 'Files differ'],
    ['git -C /x --no-pager grep foo', 'No matches found'],
    ['echo $(false; echo a) | grep b', 'No matches found'],
    ['echo a\ngrep b c', 'No matches found'],
  ])('%j with 1: %s', async (command, meaning) =>
    expect(await benignExit(command, 1)).toBe(meaning),
  );

  it.each([
    'make',
    'make && grep x y',
    'grep x y && make',
    'grep x y; exit 1',
    'git push',
    'git',
    'grep x <<END\ny\nEND',
    'if grep x y; then false; fi',
    '(grep x y)',
    'grep x y &',
    "grep 'open",
    'echo grep',
    'sudo grep x y',
    'constructor',
    '',
  ])('%j with 1 is a failure', async (command) =>
    expect(await benignExit(command, 1)).toBeUndefined(),
  );

  it('knows no other code', async () => {
    for (const code of [0, 2, 127]) expect(await benignExit('grep x y', code)).toBeUndefined();
  });
});

describe('signalOfExit', () => {
  it('names the usual signals only', () => {
    expect([130, 137, 139, 143, 255, 128, 1].map(signalOfExit)).toEqual([
      'SIGINT',
      'SIGKILL',
      'SIGSEGV',
      'SIGTERM',
      undefined,
      undefined,
      undefined,
    ]);
  });
});
