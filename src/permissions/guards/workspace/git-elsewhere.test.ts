import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { gateRig, type Rig } from '../../../../test/support/gate-rig.js';
import { nodeFileSystem } from '../../../platform/fs/node-fs.js';
import { workspaceFence } from './fence.js';

let base = '';
let main = '';
let rig: Rig;

beforeAll(() => {
  base = realpathSync(mkdtempSync(join(tmpdir(), 'fence-git-')));
  main = join(base, 'proj');
  const tree = join(main, '.claude/worktrees/agent-1');
  mkdirSync(join(tree, 'w/bare/objects'), { recursive: true });
  mkdirSync(join(tree, 'w/bare/refs'));
  writeFileSync(join(tree, '.git'), 'gitdir: elsewhere\n');
  writeFileSync(join(tree, 'w/bare/HEAD'), 'ref: refs/heads/main\n');
  writeFileSync(join(tree, 'w/bare/config'), `[core]\n\tworktree = ${main}\n`);
  for (const file of [join(main, 'main.txt'), join(tree, 'a.txt'), join(tree, 'b.txt')]) {
    writeFileSync(file, 'x');
  }
  rig = gateRig({
    cwd: tree,
    home: join(base, 'home'),
    roots: [tree],
    mode: 'bypassPermissions',
    agent: {
      id: 'a1',
      type: 'worker',
      path: 'main/worker#1',
      parentId: 'main',
      depth: 1,
      background: false,
      workspace: tree,
      isolation: 'worktree',
    },
    guards: [workspaceFence({ fs: nodeFileSystem, projectDir: main })],
  });
});
afterAll(() => rmSync(base, { recursive: true, force: true }));

describe('git of an agent in a worktree', () => {
  it.each([
    'git diff ../../../main.txt a.txt',
    'git diff a.txt MAIN/main.txt',
    'git diff -- a.txt MAIN/main.txt',
    'git diff MAIN w',
  ])('compares no file of the main checkout: %s', async (command) => {
    expect(await rig.bash(command.replace('MAIN', main))).not.toBe('runs');
  });

  it.each([
    'cd w/bare && git checkout -f main',
    'git -C w/bare read-tree -u --reset main',
    'git -C w/bare stash',
    'cd w/bare/refs; git status',
  ])('leaves repositories without a working tree alone: %s', async (command) => {
    expect(await rig.bash(command)).not.toBe('runs');
  });

  it.each([
    "git clone -u 'touch MAIN/x' . w/c",
    "git clone --upload-p='touch MAIN/x' . w/c",
    "git rebase -ix 'cd ../../..; touch x' HEAD~1",
    "git difftool -yx 'touch MAIN/x' HEAD~1",
  ])('starts nothing that writes there: %s', async (command) => {
    expect(await rig.bash(command.replace('MAIN', main))).not.toBe('runs');
  });

  it.each([
    'git diff a.txt b.txt',
    'git diff main -- a.txt',
    'git log -p main..HEAD -- w',
    'git show HEAD:a.txt',
    'git status',
    'git clone https://example.com/a/b.git w/c',
  ])('does the rest: %s', async (command) => {
    expect(await rig.bash(command)).toBe('runs');
  });
});
