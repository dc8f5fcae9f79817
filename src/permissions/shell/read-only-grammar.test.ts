import { symlinkSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { gateRig } from '../../../test/support/gate-rig.js';
import { makeTempProject, type TempProject } from '../../testing/temp-project.js';

let project: TempProject;
beforeAll(() => {
  project = makeTempProject({
    files: { 'a.txt': 'a', 'b.txt': 'b', 'one/f': '1', 'two/f': '2', '.git/HEAD': 'x' },
  });
  symlinkSync('/etc/passwd', project.at('one/x'));
});
afterAll(() => project.remove());

const bash = (command: string) =>
  gateRig({ cwd: project.directory, home: project.home }).bash(command);

describe('programs that only look', () => {
  it.each([
    // xxd knows no bundles: a second file would be written.
    'xxd -pc a.txt PWNED',
    'xxd -ps a.txt b.txt',
    'xxd a.txt -u',
    'uniq a.txt -u',
    'xxd -bl a.txt b.txt',
    'xxd -c a.txt PWNED',
    'xxd -r a.txt',
    'xxd -revert a.txt',
    'xxd a.txt b.txt',
    // Links in directories are followed.
    'diff one two',
    'diff two/f one',
    'diff -q one two',
    'diff -r one two',
    'ls -RL one',
    'ls -lL one',
    // The files of the user.
    'git config --list',
    'git config -l --show-origin',
    'git config --global --list',
    'git config --get http.extraheader',
    'git config --get url.x.insteadOf',
    // Outputs.
    'uniq a.txt b.txt',
    'sort -o b.txt a.txt',
    'tree -o b.txt',
    'date -s 2020-01-01',
    'file -C -m b.txt',
    'tail --follow a.txt',
  ])('are asked about where they may do more: %s', async (command) => {
    expect(await bash(command)).toBe('asks');
  });

  it.each([
    'xxd a.txt',
    'xxd -p a.txt',
    'xxd -l 16 -c8 a.txt',
    'xxd -s -4 a.txt',
    'diff a.txt b.txt',
    'diff -u one/f two/f',
    'diff --no-dereference one two',
    'ls -laR one',
    'git config --get user.email',
    'git config --local --list',
    'git config --get remote.origin.url',
  ])('run unasked where they do not: %s', async (command) => {
    expect(await bash(command)).toBe('runs');
  });
});
