import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { gateRig, type Rig } from '../../test/support/gate-rig.js';
import { nodeFileSystem } from '../env/node-fs.js';
import { workspaceFence } from './workspace-fence.js';

let base = '';
let main = '';
let tree = '';
let rig: Rig;

beforeAll(() => {
  base = realpathSync(mkdtempSync(join(tmpdir(), 'fence-looks-')));
  main = join(base, 'proj');
  tree = join(main, '.claude/worktrees/agent-1');
  for (const place of [main, tree]) {
    mkdirSync(join(place, 'sub'), { recursive: true });
    for (const file of ['a.txt', 'sub/b.txt']) writeFileSync(join(place, file), 'x\n');
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

/** What becomes of a command, and by whom. `@M` is the main checkout, `@T` the agent's tree. */
async function fate(command: string): Promise<string> {
  const spelled = command.replaceAll('@M', main).replaceAll('@T', tree);
  const verdict = await rig.call('Bash', { command: spelled });
  if (verdict.kind === 'allowed') return 'runs';
  const fence = verdict.receipt.trace.find(({ guard }) => guard === 'workspace fence');
  return fence?.decision === 'deny' && fence.failure === undefined ? 'denied' : verdict.message;
}

describe('what an agent with a tree of its own looks at by patterns and unfinished words', () => {
  it.each([
    'cat ../../../a*.txt',
    'cat ../../../[a].txt',
    'cat @M/a*.txt',
    'cat *.txt ../../../a*.txt',
    'head ../*/a.txt',
    'wc -l ../../../*.txt',
    'cat .*/.*/.*/a.txt',
    'diff a.txt ../../../a*.txt',
    'cat < ../../../a*.txt',
    'cd ../../../s* && cat b.txt',
    'cd @M/s* && cat b.txt',
    'cd -P ../../.. && cat a.txt',
    'pushd ../../../s*',
    'cd "$X"; cat @M/a*.txt',
    'cat ../../../a$X.txt',
    'cat @M/$X',
    'cd ../../../$X && cat a.txt',
    'cat < @M/a$X',
    'cat /proc/self/cwd/../../../a.txt',
    'cat /proc/self/cwd/a.txt',
    'cat /proc//self/./task/1/cwd/a.txt',
    'cat /proc/$PPID/cwd/a.txt',
    'cat /proc/self/root/@M/a.txt',
    'cd /proc/self && cat cwd/a.txt',
    'cd /proc/self/cwd && cat a.txt',
    'ls /proc/sel[f]/cwd/',
    'cat /dev/fd/3/../a.txt',
  ])('is not the main checkout: %s', async (command) => {
    expect(await fate(command)).toBe('denied');
  });

  it.each([
    'cat *.txt',
    'cat sub/*.txt **/*.txt',
    'wc -l @T/*.txt',
    'ls .[a-z]*',
    'cd s* && cat b.txt',
    'cd "$X" && ls',
    'cat /etc/host*',
    'cat "/etc/$X"',
    'cat sub/$X',
    'cat /proc/cpuinfo /proc/self/status',
    'cat /dev/fd/0 < a.txt',
  ])('may be anything else: %s', async (command) => {
    expect(await fate(command)).toBe('runs');
  });
});
