import { execFileSync } from 'node:child_process';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { openAgentWorkspace, type WorkspaceDeps } from '../../src/agents/workspaces/open.js';
import { WORKTREE_DEFAULTS, type WorktreeSettings } from '../../src/agents/workspaces/worktree.js';
import type { WorktreeHooks } from '../../src/hooks/events/worktree.js';
import { createGit } from '../../src/permissions/git/hardened.js';
import { nodeFileSystem } from '../../src/platform/fs/node-fs.js';
import { createProcessSupervisor } from '../../src/platform/process/node-process.js';
import { MAIN_AGENT } from '../../src/protocol/agent-ref.js';
import { createWorkspace } from '../../src/tools/workspace.js';
import { type AgentsSession, agent, openAgentsSession } from './core-rig.js';

let base = '';
let repo = '';
let session: AgentsSession | undefined;

const identity = ['-c', 'user.email=a', '-c', 'user.name=a'];
const gitIn = (cwd: string, ...args: string[]): void =>
  void execFileSync('git', [...identity, ...args], {
    cwd,
    env: { ...process.env, GIT_CONFIG_GLOBAL: '/dev/null' },
  });

function fill(directory: string): void {
  mkdirSync(join(directory, 'sub'), { recursive: true });
  gitIn(directory, 'init', '-q', '-b', 'main');
  writeFileSync(join(directory, 'a.txt'), 'a\n');
  writeFileSync(join(directory, 'sub/b.txt'), 'b\n');
  gitIn(directory, 'add', '-A');
  gitIn(directory, 'commit', '-qm', 'first');
}

beforeEach(() => {
  base = realpathSync(mkdtempSync(join(tmpdir(), 'work-')));
  repo = join(base, 'repo');
  fill(repo);
});

afterEach(async () => {
  await session?.close();
  session = undefined;
  rmSync(base, { recursive: true, force: true });
});

async function opened(settings: Partial<WorktreeSettings> = {}, hooks?: WorktreeHooks) {
  const env = { PATH: process.env.PATH, HOME: '/nonexistent' };
  const processes = createProcessSupervisor();
  const deps: WorkspaceDeps = {
    fs: nodeFileSystem,
    processes,
    env,
    git: createGit({ fs: nodeFileSystem, processes, env, isTrusted: async () => false }),
    temporaryDirectory: base,
    settings: { ...WORKTREE_DEFAULTS, ...settings },
    hooks,
    warn: () => undefined,
  };
  const ref = { id: 'a1', type: 'w', path: 'main/w#1', depth: 1, background: false } as const;
  const result = await openAgentWorkspace(deps, {
    definition: { workspace: { kind: 'worktree' } },
    agent: ref,
    parent: createWorkspace([repo]),
    parentRef: MAIN_AGENT,
    signal: new AbortController().signal,
  });
  if (!result.ok) throw new Error(result.error);
  const { close } = result.value;
  return { tree: result.value.ref.workspace ?? '', close: () => close() };
}

const change = (tree: string): void => writeFileSync(join(tree, 'a.txt'), 'work\n');

describe('a tree is kept with', () => {
  it.each(['--assume-unchanged', '--skip-worktree'])(
    'changes of a file that git was told not to look at: %s',
    async (mark) => {
      const { tree, close } = await opened();
      gitIn(tree, 'update-index', mark, 'a.txt', 'sub/b.txt');
      change(tree);
      rmSync(join(tree, 'sub/b.txt'));
      expect(await close()).toMatchObject({ kept: true, changed: ['a.txt', 'sub/b.txt'] });
      expect(existsSync(join(tree, 'a.txt'))).toBe(true);
    },
  );

  it('changes where the settings of the repository keep git from looking', async () => {
    gitIn(repo, 'config', 'core.ignoreStat', 'true');
    const { tree, close } = await opened();
    change(tree);
    expect(await close()).toMatchObject({ kept: true, changed: ['a.txt'] });
  });

  it('changes of a file that a sparse checkout was said to leave out', async () => {
    const { tree, close } = await opened({ sparsePaths: ['sub'] });
    gitIn(tree, 'update-index', '--skip-worktree', 'sub/b.txt');
    writeFileSync(join(tree, 'sub/b.txt'), 'work\n');
    expect(await close()).toMatchObject({ kept: true, changed: ['sub/b.txt'] });
  });

  it.each([
    ['on another branch', ['checkout', '-q', '-b', 'other']],
    ['on no branch', ['checkout', '-q', '--detach']],
  ])('a commit %s', async (_, leave) => {
    const { tree, close } = await opened();
    gitIn(tree, ...leave);
    change(tree);
    gitIn(tree, 'commit', '-qam', 'work');
    gitIn(tree, 'checkout', '-q', 'worktree-agent-a1');
    expect(await close()).toMatchObject({ kept: true, changed: ['a.txt'] });
  });

  it('a stash', async () => {
    const { tree, close } = await opened();
    change(tree);
    gitIn(tree, 'stash', '-q');
    expect(await close()).toMatchObject({ kept: true, changed: ['a.txt'] });
  });

  it('changes that git was told not to look at, where hooks made the tree', async () => {
    const tree = join(base, 'hooked');
    fill(tree);
    const hooks: WorktreeHooks = {
      create: async () => ({ kind: 'path', path: tree }),
      remove: async () => true,
    };
    const { close } = await opened({}, hooks);
    gitIn(tree, 'update-index', '--assume-unchanged', 'a.txt');
    change(tree);
    expect(await close()).toMatchObject({ kept: true, changed: ['a.txt'] });
  });

  it.each([
    ['x.log', 'by itself', {}],
    ['logs/x.log', 'by itself', {}],
    ['x.log', 'by one that works for it', { APART: [agent('BELOW'), 'done'] }],
  ])('an ignored file that Write made: %s, %s', async (name, _, agents) => {
    const input = { file_path: name, content: 'x' };
    const writes = [{ tool: 'Write', input }, 'done'];
    session = await openAgentsSession({
      files: { '.gitignore': '*.log\n' },
      main: [agent('APART', { isolation: 'worktree' }), 'end'],
      agents: { APART: writes, BELOW: writes, ...agents },
      config: { allowedTools: ['Write'] },
    });
    const { directory } = session.project;
    gitIn(directory, 'init', '-q', '-b', 'main');
    gitIn(directory, 'add', '-A');
    gitIn(directory, 'commit', '-qm', 'first');
    await session.say('go');
    const trees = join(directory, '.claude/worktrees');
    const [tree = 'none'] = readdirSync(trees);
    expect(existsSync(join(trees, tree, name))).toBe(true);
    expect(session.result().text).toContain(name);
  });
});

describe('a tree goes', () => {
  it.each([
    ['where nothing is done', 'false', {}],
    ['where settings keep git from looking', 'true', {}],
    ['where a sparse checkout leaves files out', 'false', { sparsePaths: ['sub'] }],
  ])('%s', async (_, ignoreStat, settings) => {
    gitIn(repo, 'config', 'core.ignoreStat', ignoreStat);
    const { tree, close } = await opened(settings);
    expect(await close()).toMatchObject({ kept: false });
    expect(existsSync(tree)).toBe(false);
  });

  it('where stashes and commits are of others', async () => {
    const { tree, close } = await opened();
    change(repo);
    gitIn(repo, 'stash', '-q');
    gitIn(repo, 'commit', '-q', '--allow-empty', '-m', 'later');
    gitIn(tree, 'checkout', '-q', '--detach', 'main');
    gitIn(tree, 'checkout', '-q', 'worktree-agent-a1');
    expect(await close()).toMatchObject({ kept: false });
  });
});
