import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { AgentWorkspace } from '../../src/agents/definitions/definition.js';
import { createChildPlaces } from '../../src/agents/workspaces/agent-workspaces.js';
import {
  type OpenedWorkspace,
  openAgentWorkspace,
  type WorkspaceDeps,
} from '../../src/agents/workspaces/open.js';
import { WORKTREE_DEFAULTS, type WorktreeSettings } from '../../src/agents/workspaces/worktree.js';
import type { WorktreeHooks } from '../../src/hooks/events/worktree.js';
import { createGit } from '../../src/permissions/git/hardened.js';
import { nodeFileSystem } from '../../src/platform/fs/node-fs.js';
import { createProcessSupervisor } from '../../src/platform/process/node-process.js';
import { type AgentRef, MAIN_AGENT } from '../../src/protocol/agent-ref.js';
import { createWriteLedger } from '../../src/tools/files/write-ledger.js';
import { createWorkspace } from '../../src/tools/workspace.js';

const processes = createProcessSupervisor();
const ledger = createWriteLedger();
let base = '';
let repo = '';
let warnings: string[] = [];

const env = { PATH: process.env.PATH, HOME: '/nonexistent', GIT_DIR: '/nowhere' };
const git = (...args: string[]): string =>
  execFileSync('git', args, { cwd: repo, env: { ...process.env, GIT_CONFIG_GLOBAL: '/dev/null' } })
    .toString()
    .trim();

beforeEach(() => {
  base = realpathSync(mkdtempSync(join(tmpdir(), 'places-')));
  repo = join(base, 'repo');
  mkdirSync(join(repo, 'sub'), { recursive: true });
  warnings = [];
  git('init', '-q', '-b', 'main');
  git('config', 'user.email', 'a@b.c');
  git('config', 'user.name', 'A');
  writeFileSync(join(repo, 'a.txt'), 'a\n');
  writeFileSync(join(repo, 'sub/b.txt'), 'b\n');
  writeFileSync(join(repo, '.gitignore'), '*.secret\nlinked/\nshared\n');
  git('add', '-A');
  git('commit', '-qm', 'first');
});

afterEach(() => rmSync(base, { recursive: true, force: true }));

let count = 0;
const agentRef = (): AgentRef => {
  count++;
  const id = `a${(0x10000000 + count).toString(16)}`;
  return { id, type: 'w', path: `main/w#${count}`, parentId: 'main', depth: 1, background: false };
};

const deps = (settings: Partial<WorktreeSettings> = {}, hooks?: WorktreeHooks): WorkspaceDeps => ({
  fs: nodeFileSystem,
  processes,
  env,
  git: createGit({ fs: nodeFileSystem, processes, env, isTrusted: async () => false }),
  temporaryDirectory: base,
  settings: { ...WORKTREE_DEFAULTS, ...settings },
  ledger,
  hooks,
  warn: (text) => void warnings.push(text),
});

const openWith = (
  place: AgentWorkspace,
  over: {
    deps?: WorkspaceDeps;
    cwd?: string;
    agent?: AgentRef;
    parentRef?: AgentRef;
    added?: readonly string[];
  } = {},
) =>
  openAgentWorkspace(over.deps ?? deps(), {
    definition: { workspace: place },
    agent: over.agent ?? agentRef(),
    parent: createWorkspace([over.cwd ?? repo, ...(over.added ?? [])]),
    parentRef: over.parentRef ?? MAIN_AGENT,
    signal: new AbortController().signal,
  });

const opened = async (...args: Parameters<typeof openWith>): Promise<OpenedWorkspace> => {
  const result = await openWith(...args);
  if (!result.ok) throw new Error(result.error);
  return result.value;
};

const WORKTREE: AgentWorkspace = { kind: 'worktree' };

describe('a worktree', () => {
  it('is made on a branch of its own, locked, and removed with it when nothing was done', async () => {
    const agent = agentRef();
    const place = await opened(WORKTREE, { agent });
    const name = `agent-${agent.id}`;
    const path = join(repo, '.claude/worktrees', name);
    expect(place.ref).toEqual({ isolation: 'worktree', workspace: path });
    expect(place.workspace).toMatchObject({ cwd: path, roots: [path] });
    expect(place.notice).toContain(path);
    expect(place.notice?.replaceAll(path, '')).not.toContain(repo);
    expect(readFileSync(join(path, 'a.txt'), 'utf8')).toBe('a\n');
    expect(git('worktree', 'list', '--porcelain')).toContain('locked an agent works in');
    expect(git('status', '--porcelain')).toBe('');
    expect(await place.close()).toEqual({
      path,
      branch: `worktree-${name}`,
      kept: false,
      changed: [],
    });
    expect(existsSync(path)).toBe(false);
    expect(git('branch', '--list', 'worktree-*')).toBe('');
    expect(warnings).toEqual([]);
  });

  it.each([
    ['an untracked file', (tree: string) => writeFileSync(join(tree, 'new.txt'), ''), ['new.txt']],
    ['a change', (tree: string) => writeFileSync(join(tree, 'a.txt'), 'x'), ['a.txt']],
    ['a removed file', (tree: string) => rmSync(join(tree, 'sub/b.txt')), ['sub/b.txt']],
  ])('is kept and told of with %s', async (_, change, changed) => {
    const place = await opened(WORKTREE);
    const tree = place.ref.workspace ?? '';
    change(tree);
    expect(await place.close()).toMatchObject({ path: tree, kept: true, changed });
    expect(existsSync(tree)).toBe(true);
    expect(git('worktree', 'list', '--porcelain')).not.toContain('locked');
  });

  it('is kept with commits, also when another branch is checked out after them', async () => {
    const place = await opened(WORKTREE);
    const tree = place.ref.workspace ?? '';
    writeFileSync(join(tree, 'c.txt'), 'c');
    execFileSync('git', ['add', '-A'], { cwd: tree });
    execFileSync('git', ['commit', '-qm', 'work'], { cwd: tree });
    execFileSync('git', ['checkout', '-q', '--detach', 'HEAD~1'], { cwd: tree });
    expect(await place.close()).toMatchObject({ kept: true, changed: ['c.txt'] });
    expect(git('branch', '--list', 'worktree-*')).not.toBe('');
  });

  it('is kept with an ignored file that a tool wrote', async () => {
    const agent = agentRef();
    const place = await opened(WORKTREE, { agent });
    const file = join(place.ref.workspace ?? '', 'k.secret');
    writeFileSync(file, 'k');
    ledger.wrote(file, { agent: agent.path, toolUseId: 't', hash: 'h' });
    expect(await place.close()).toMatchObject({ kept: true, changed: ['k.secret'] });
  });

  it('is kept when the agent has taken its .git away', async () => {
    const place = await opened(WORKTREE);
    const tree = place.ref.workspace ?? '';
    rmSync(join(tree, '.git'));
    expect(await place.close()).toMatchObject({ kept: true });
    expect(existsSync(tree)).toBe(true);
  });

  it('is gone on with when the agent is, and never removed then', async () => {
    const agent = agentRef();
    const first = await opened(WORKTREE, { agent });
    const tree = first.ref.workspace ?? '';
    writeFileSync(join(tree, 'new.txt'), 'kept');
    await first.close();
    const again = await opened(WORKTREE, { agent });
    expect(again.ref.workspace).toBe(tree);
    expect(readFileSync(join(tree, 'new.txt'), 'utf8')).toBe('kept');
    rmSync(join(tree, 'new.txt'));
    expect(await again.close()).toMatchObject({ kept: true });
  });

  it('runs no hook of the repository', async () => {
    const mark = join(base, 'ran');
    for (const name of ['post-checkout', 'pre-commit', 'reference-transaction']) {
      writeFileSync(join(repo, '.git/hooks', name), `#!/bin/sh\ntouch ${mark}\n`);
      chmodSync(join(repo, '.git/hooks', name), 0o755);
    }
    await (await opened(WORKTREE)).close();
    expect(existsSync(mark)).toBe(false);
  });

  it('starts where the session does, and keeps added directories readable', async () => {
    const added = join(base, 'added');
    mkdirSync(added);
    const place = await opened(WORKTREE, { cwd: join(repo, 'sub'), added: [added] });
    const tree = place.ref.workspace ?? '';
    expect(place.workspace.cwd).toBe(join(tree, 'sub'));
    expect(place.workspace.roots).toEqual([tree, added]);
    place.workspace.setCwd(added);
    expect(place.workspace.cwd).toBe(tree);
    await place.close();
  });

  it('stands beside the tree of the agent that asks for it', async () => {
    const outer = await opened(WORKTREE);
    const tree = outer.ref.workspace ?? '';
    writeFileSync(join(tree, 'c.txt'), 'c');
    execFileSync('git', ['add', '-A'], { cwd: tree });
    execFileSync('git', ['commit', '-qm', 'of the parent'], { cwd: tree });
    const inner = await opened(WORKTREE, { cwd: tree, parentRef: { ...agentRef(), ...outer.ref } });
    const nested = inner.ref.workspace ?? '';
    expect(nested).toMatch(/^.*\/repo\/\.claude\/worktrees\/agent-[0-9a-f]+$/);
    expect(readFileSync(join(nested, 'c.txt'), 'utf8')).toBe('c');
    expect(await inner.close()).toMatchObject({ kept: false });
    await outer.close();
  });

  it('copies ignored files that .worktreeinclude names, and nothing through links', async () => {
    writeFileSync(join(repo, 'local.secret'), 'local');
    writeFileSync(join(repo, 'plain.txt'), 'untracked and not ignored');
    writeFileSync(join(base, 'outside.secret'), 'outside');
    symlinkSync(join(base, 'outside.secret'), join(repo, 'link.secret'));
    symlinkSync(base, join(repo, 'linked'));
    writeFileSync(join(repo, '.worktreeinclude'), '*.secret\nplain.txt\nlinked\n');
    const place = await opened(WORKTREE);
    const tree = place.ref.workspace ?? '';
    expect(readdirSync(tree).sort()).toEqual([
      '.git',
      '.gitignore',
      'a.txt',
      'local.secret',
      'sub',
    ]);
    expect(await place.close()).toMatchObject({ kept: false });
  });

  it('links shared directories and holds only sparse paths, as settings say', async () => {
    mkdirSync(join(repo, 'shared'));
    writeFileSync(join(repo, 'shared/x'), 'x');
    const place = await opened(WORKTREE, {
      deps: deps({ symlinkDirectories: ['shared', '../..', 'nosuch'], sparsePaths: ['sub'] }),
    });
    const tree = place.ref.workspace ?? '';
    expect(readFileSync(join(tree, 'shared/x'), 'utf8')).toBe('x');
    expect(existsSync(join(tree, 'sub/b.txt'))).toBe(true);
    expect(warnings).toHaveLength(2);
    expect(await place.close()).toMatchObject({ kept: false });
    expect(readFileSync(join(repo, 'shared/x'), 'utf8')).toBe('x');
  });

  it('begins with the default branch of the remote when settings say so', async () => {
    git('update-ref', 'refs/remotes/origin/main', 'HEAD');
    git('symbolic-ref', 'refs/remotes/origin/HEAD', 'refs/remotes/origin/main');
    writeFileSync(join(repo, 'later.txt'), '');
    git('add', '-A');
    git('commit', '-qm', 'later');
    const fresh = await opened(WORKTREE, { deps: deps({ baseRef: 'fresh' }) });
    expect(existsSync(join(fresh.ref.workspace ?? '', 'later.txt'))).toBe(false);
    await fresh.close();
    const head = await opened(WORKTREE);
    expect(existsSync(join(head.ref.workspace ?? '', 'later.txt'))).toBe(true);
    await head.close();
  });

  it('is not made where it cannot be: no repository, no commit, a link in the way', async () => {
    const plain = join(base, 'plain');
    mkdirSync(plain);
    const nowhere = await openWith(WORKTREE, { cwd: plain });
    expect(nowhere).toMatchObject({ ok: false });
    expect(JSON.stringify(nowhere)).toContain('WorktreeCreate');
    execFileSync('git', ['init', '-q'], { cwd: plain });
    expect(JSON.stringify(await openWith(WORKTREE, { cwd: plain }))).toContain('has none yet');
    mkdirSync(join(base, 'trap'));
    symlinkSync(join(base, 'trap'), join(repo, '.claude'));
    expect(JSON.stringify(await openWith(WORKTREE))).toContain('symbolic link');
    expect(readdirSync(join(base, 'trap'))).toEqual([]);
  });

  it('is left to hooks where there are some', async () => {
    const tree = join(base, 'hooked');
    mkdirSync(tree);
    const removed: string[] = [];
    const hooks: WorktreeHooks = {
      create: async () => ({ kind: 'path', path: tree }),
      remove: async ({ worktree_path }) => removed.push(worktree_path) > 0,
    };
    const place = await opened(WORKTREE, { deps: deps({}, hooks) });
    expect(place.ref).toEqual({ isolation: 'worktree', workspace: tree });
    // Nobody can tell what changed in there.
    expect(await place.close()).toMatchObject({ kept: true });
    execFileSync('git', ['init', '-q'], { cwd: tree });
    execFileSync(
      'git',
      ['-c', 'user.email=a', '-c', 'user.name=a', 'commit', '-qm', 'x', '--allow-empty'],
      { cwd: tree },
    );
    expect(await (await opened(WORKTREE, { deps: deps({}, hooks) })).close()).toMatchObject({
      kept: false,
    });
    expect(removed).toEqual([tree]);
    const refusing: WorktreeHooks = {
      ...hooks,
      create: async () => ({ kind: 'refused', reason: 'no' }),
    };
    expect(await openWith(WORKTREE, { deps: deps({}, refusing) })).toMatchObject({ ok: false });
  });
});

describe('other workspaces', () => {
  it('opens a directory inside of the parent by where it really is', async () => {
    const place = await opened({ kind: 'directory', path: 'sub' });
    expect(place.ref).toEqual({ workspace: join(repo, 'sub') });
    expect(place.workspace.roots).toEqual([join(repo, 'sub'), repo]);
    place.workspace.setCwd(repo);
    expect(place.workspace.cwd).toBe(join(repo, 'sub'));
    symlinkSync(base, join(repo, 'out'));
    for (const path of ['out', '..', base, 'nosuch', 'a.txt']) {
      expect(await openWith({ kind: 'directory', path })).toMatchObject({ ok: false });
    }
    const parentRef = { ...agentRef(), workspace: join(repo, 'sub') };
    expect(await openWith({ kind: 'directory', path: repo }, { parentRef })).toMatchObject({
      ok: false,
    });
  });

  it('makes a private directory and removes it, but for what the result names', async () => {
    const place = await opened({ kind: 'scratch' });
    const path = place.ref.workspace ?? '';
    expect(statSync(path).mode & 0o777).toBe(0o700);
    writeFileSync(join(path, 'x'), '');
    await place.close('nothing to see');
    expect(existsSync(path)).toBe(false);
    const other = await opened({ kind: 'scratch' });
    writeFileSync(join(other.ref.workspace ?? '', 'x'), '');
    await other.close(`see ${join(other.ref.workspace ?? '', 'x')}`);
    expect(existsSync(other.ref.workspace ?? '')).toBe(true);
  });

  it('passes a fence on to those who inherit', async () => {
    const parentRef: AgentRef = {
      ...agentRef(),
      isolation: 'worktree',
      workspace: join(repo, 'sub'),
    };
    const place = await opened({ kind: 'inherit' }, { parentRef });
    expect(place.ref).toEqual({ isolation: 'worktree', workspace: join(repo, 'sub') });
    place.workspace.setCwd(repo);
    expect(place.workspace.cwd).toBe(join(repo, 'sub'));
    expect((await opened({ kind: 'inherit' })).ref).toEqual({});
  });
});

describe('what was written where', () => {
  it('names files of the project that a program of the agent changed', async () => {
    const placeFor = createChildPlaces({
      fs: nodeFileSystem,
      processes,
      env,
      temporaryDirectory: base,
      projectDir: repo,
      isTrusted: async () => false,
      ledger: () => ledger,
      settings: () => WORKTREE_DEFAULTS,
      warn: (text) => void warnings.push(text),
    });
    const agent = agentRef();
    const request = {
      definition: { workspace: { kind: 'worktree' } } as never,
      parent: MAIN_AGENT,
      signal: new AbortController().signal,
    };
    writeFileSync(join(repo, 'dirty-before.txt'), 'x');
    const place = await placeFor(request, agent, createWorkspace([repo]));
    if (place?.ok !== true) throw new Error('no place');
    const ended = ledger.commandStarted({ agent: agent.path, toolUseId: 't' });
    writeFileSync(join(repo, 'stray.txt'), 'x');
    writeFileSync(join(place.value.workspace.cwd, 'fine.txt'), 'x');
    ended();
    const left = await place.value.finish();
    expect(left.outsideWrites).toEqual([join(repo, 'stray.txt')]);
    expect(left.worktree).toMatchObject({ kept: true, changed: ['fine.txt'] });
    expect(place.value.readState).toBeDefined();
  });
});
