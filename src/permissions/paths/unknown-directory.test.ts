import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { gateRig } from '../../../test/support/gate-rig.js';
import { nodeFileSystem } from '../../platform/fs/node-fs.js';
import { makeTempProject, type TempProject } from '../../testing/temp-project.js';
import { workspaceFence } from '../guards/workspace/fence.js';

let project: TempProject;
let tree = '';
beforeAll(() => {
  project = makeTempProject({
    files: { 'a.txt': 'a', 'sub/b.txt': 'b', 'secrets/key.pem': 'k' },
    home: { '.ssh/id_rsa': 'key' },
  });
  tree = project.at('.claude/worktrees/w');
  mkdirSync(path.join(tree, 'sub'), { recursive: true });
  for (const name of ['a.txt', 'sub/b.txt']) writeFileSync(path.join(tree, name), 'x');
});
afterAll(() => project.remove());

const rig = (rules: { allow?: string[]; deny?: string[] } = {}) =>
  gateRig({ cwd: project.directory, home: project.home, ...rules });

describe('a command whose directory is not known', () => {
  it.each([
    'cd -; cat ~/.ssh/id_*',
    'cd - && head -5 ~/.ssh/id_*',
    'cd -; cat *.txt',
    'cd -; cat a.txt',
    'cd -; ls',
    'cd -; grep -r x',
    'cd -; wc -l < a.txt',
    'cd sub; cd -; cat ../*.txt',
  ])('is not covered by only looking: %s', async (command) => {
    expect(await rig().bash(command)).toBe('asks');
  });

  it.each(['cd -', 'cd sub && cat b*.txt ../a.txt', 'cat *.txt'])(
    'is none: %s',
    async (command) => {
      expect(await rig().bash(command)).toBe('runs');
    },
  );

  it.each(['cd -; cp a.txt b*.txt', 'cd -; mv x y'])(
    'is not covered by a rule where it writes: %s',
    async (command) => {
      expect(await rig({ allow: ['Bash(cp:*)', 'Bash(mv:*)'] }).bash(command)).toBe('asks');
    },
  );

  it.each(['cd -; cat key.p*', 'cd -; cat key.pem', 'cd -; grep -r k'])(
    'may be where a denied file is: %s',
    async (command) => {
      const gate = rig({ allow: ['Bash'], deny: ['Read(./secrets/**)'] });
      expect(await gate.bash(command)).toBe('asks');
    },
  );

  it.each(['cd -; rm -rf etc', 'pushd /; rm -rf usr', 'cd -; rm -rf *'])(
    'may be the root of the disk: %s',
    async (command) => {
      expect(await rig({ allow: ['Bash'] }).bash(command)).toBe('asks');
    },
  );

  it('is not where nothing else is when it removes what only a project has', async () => {
    expect(await rig({ allow: ['Bash'] }).bash('pushd sub; rm -rf dist')).toBe('runs');
    expect(await rig({ allow: ['Bash'] }).bash('set -euo pipefail; rm -rf dist')).toBe('runs');
  });
});

describe('an agent with a tree of its own, in a directory that is not known', () => {
  const inTree = () =>
    gateRig({
      cwd: tree,
      home: project.home,
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
      guards: [workspaceFence({ fs: nodeFileSystem, projectDir: project.directory })],
    });

  it.each([
    'cd -; cat ../../../a.txt',
    'cd -; cat a.txt',
    'cd -; cat *.txt',
    'cd -; ls',
    'cd -; grep -r x',
    'cd -; find . -type f',
    'cd -; cat < a.txt',
    'while :; do cd ..; cat a.txt; done',
    'cd s*; cat ../../../../a.txt',
    'pushd sub; cat a.txt',
  ])('looks at nothing: %s', async (command) => {
    const { receipt } = await inTree().call('Bash', { command });
    expect(receipt.trace.find(({ guard }) => guard === 'workspace fence')?.decision).toBe('deny');
  });

  it.each(['cd s* && cat b.txt', 'set -e; cat a.txt; ls', 'cd -; echo done | grep done'])(
    'goes on where that leads nowhere else: %s',
    async (command) => {
      expect(await inTree().bash(command)).toBe('runs');
    },
  );
});
