import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { parseGitConfig } from './config.js';

let directory = '';
beforeAll(() => {
  directory = mkdtempSync(join(tmpdir(), 'git-config-'));
});
afterAll(() => rmSync(directory, { recursive: true, force: true }));

/** What git itself reads in a file; undefined where it reports an error. */
function byGit(text: string): { key: string; value: string }[] | undefined {
  const file = join(directory, 'config');
  writeFileSync(file, text);
  try {
    const printed = execFileSync(
      'git',
      ['config', '--file', file, '--no-includes', '--list', '-z'],
      {
        stdio: ['ignore', 'pipe', 'ignore'],
      },
    ).toString();
    return printed
      .split('\0')
      .filter((one) => one !== '')
      .map((one) => {
        const end = one.indexOf('\n');
        return end === -1
          ? { key: one, value: 'true' }
          : { key: one.slice(0, end), value: one.slice(end + 1) };
      });
  } catch {
    return undefined;
  }
}

const TEXTS: readonly string[] = [
  '',
  '[core]\n\thooksPath = x\n',
  '[core] hooksPath = x',
  '[CORE]HooksPath=x # why\n',
  '[core] ; comment\nhooksPath = "a # b" ; c\n',
  '[user]\n\tname = x\\\\\n[core]\n\tfsmonitor = ./evil\n',
  '[user]\n\tname = x\\\n[core]\n\tfsmonitor = ./evil\n',
  '[user] # \\\n[core]\n\tfsmonitor = ./evil\n',
  '[user]\n\tname = "a\\\nb" c\\t\\"d\\"\n',
  '[user]\n\tname = a  b   \n',
  '[a "B \\"c\\\\"]\nkey\n',
  '[a.B.c]\nkey = v\n',
  '[a "b"] key = one\n  other=two\r\n[c]\r\nkey = v\r\n',
  '[include]path=../x\n',
  '[includeIf "gitdir:~/x/"]path=y',
  '\uFEFF[core]\n\tpager = x\n',
  '[core]\n\tpager = \n',
  '[core]\n\tpager\n',
  '[core]\n\tpager x\n',
  '[core\n\tpager = x\n',
  '[core]\n\tpager = "x\n',
  '[core]\n\tpager = \\x\n',
  '[a "b" ]\nkey\n',
  '[ core ]\nkey\n',
  '[core]\n1key = x\n',
];

describe('a git configuration file', () => {
  it.each(TEXTS)('is read as git reads it: %j', (text) => {
    expect(parseGitConfig(text)).toEqual(byGit(text));
  });

  it('is read as git reads it, whatever it is put together from', () => {
    const pieces = ['[core]', '[a "b"]', '\n', ' ', 'key', '=', 'x', '"', '\\', '#', ';', '\r\n'];
    let seed = 7;
    const pick = (count: number): number => {
      seed = (seed * 1103515245 + 12345) % 2147483648;
      return Math.floor((seed / 2147483648) * count);
    };
    for (let round = 0; round < 150; round++) {
      const text = `[s]\n${Array.from({ length: 4 + pick(10) }, () => pieces[pick(pieces.length)]).join('')}`;
      expect(parseGitConfig(text), JSON.stringify(text)).toEqual(byGit(text));
    }
  });
});
