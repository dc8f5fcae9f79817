import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import {
  type EventHook,
  eventHooks,
  FAILED,
  FAILED_OPEN,
  scene,
} from '../../../test/support/event-hooks.js';
import { temporaryDirectory } from '../../../test/support/tool-call.js';
import { nodeFileSystem } from '../../platform/fs/node-fs.js';
import { createWorktreeHooks } from './worktree.js';

let root: string;
let project: string;
let tree: string;

beforeEach(() => {
  root = temporaryDirectory();
  project = path.join(root, 'project');
  tree = path.join(root, 'trees', 'one');
  mkdirSync(project);
  mkdirSync(tree, { recursive: true });
});

const create = async (hooks: readonly EventHook[], name = 'one') => {
  const rig = eventHooks({ WorktreeCreate: hooks });
  const worktrees = createWorktreeHooks({ ...rig, fs: nodeFileSystem, projectDir: project });
  return { ...rig, made: await worktrees.create({ name }, scene) };
};

const refusal = async (hooks: readonly EventHook[], name?: string): Promise<string> => {
  const { made } = await create(hooks, name);
  return made.kind === 'refused' ? made.reason : `not refused: ${JSON.stringify(made)}`;
};

describe('WorktreeCreate hooks', () => {
  it('are not asked when there are none', async () => {
    const { made, fired } = await create([]);
    expect(made).toEqual({ kind: 'none' });
    expect(fired).toEqual([]);
  });

  it('name the path', async () => {
    const { made, fired } = await create([{ fields: { worktreePath: ` ${tree}/ ` } }]);
    expect(made).toEqual({ kind: 'path', path: tree });
    expect(fired).toMatchObject([{ occasion: { fields: { name: 'one' } } }]);
  });

  it('name the path in a field; two that name the same agree', async () => {
    const { made } = await create([
      { fields: { worktreePath: tree } },
      { fields: { worktreePath: `${tree}/.` } },
    ]);
    expect(made).toEqual({ kind: 'path', path: tree });
  });

  it('may make trees below the project', async () => {
    const inside = path.join(project, '.trees', 'a');
    mkdirSync(inside, { recursive: true });
    expect((await create([{ fields: { worktreePath: inside } }])).made).toEqual({
      kind: 'path',
      path: inside,
    });
  });

  it.each<[string, EventHook, string]>([
    ['says nothing', {}, 'gave no path'],
    ['prints blanks', { fields: { worktreePath: ' \n ' } }, 'gave no path'],
    ['gives a path that is not a text', { fields: { worktreePath: 7 } }, 'gave no path'],
    ['says no', { decision: 'deny', reason: 'full' }, 'said no: full'],
    ['wants to stop', { stop: 'halt', fields: { worktreePath: '/tmp' } }, 'stop: halt'],
    ['asks', { decision: 'ask', fields: { worktreePath: '/tmp' } }, 'person'],
    ['answers later', { asyncMs: 1 }, 'needed now'],
    ['fails', FAILED, 'guard failed: guard.sh gave no verdict (timeout'],
    ['fails with leave to', FAILED_OPEN, 'guard failed: guard.sh made no tree in 1200 ms (timeout'],
    ['ends with 1', { fields: { worktreePath: '/tmp' }, report: { exitCode: 1 } }, 'exit code 1'],
    ['complains', { report: { complaint: 'disk full' } }, 'disk full'],
    [
      'was killed',
      { fields: { worktreePath: '/tmp' }, report: { exitCode: null } },
      'guard failed',
    ],
  ])('refuse when one %s', async (_name, hook, text) => {
    const good: EventHook = { fields: { worktreePath: tree } };
    expect(await refusal([hook])).toContain(text);
    expect(await refusal([good, hook])).toContain(text);
  });

  it('refuse what is relative, goes up, is not there, or is no directory', async () => {
    expect(await refusal([{ fields: { worktreePath: 'trees/one' } }])).toContain('not absolute');
    const file = path.join(root, 'file');
    writeFileSync(file, '');
    expect(await refusal([{ fields: { worktreePath: `${root}/trees/../trees/one` } }])).toContain(
      '".."',
    );
    expect(await refusal([{ fields: { worktreePath: path.join(root, 'nowhere') } }])).toContain(
      'no directory',
    );
    expect(await refusal([{ fields: { worktreePath: file } }])).toContain('no directory');
    expect(await refusal([{ fields: { worktreePath: `${tree}\u0007` } }])).toContain('control');
    expect(await refusal([{ fields: { worktreePath: `${tree}\0` } }])).toContain('control');
  });

  it('refuse links of the repository, by whatever way they are reached', async () => {
    symlinkSync(path.join(root, 'trees'), path.join(project, 'link'));
    symlinkSync(project, path.join(root, 'alias'));
    expect(
      await refusal([{ fields: { worktreePath: path.join(project, 'link', 'one') } }]),
    ).toContain('link');
    expect(
      await refusal([{ fields: { worktreePath: path.join(root, 'alias', 'link', 'one') } }]),
    ).toContain('link');
    symlinkSync(tree, path.join(project, 'last'));
    expect(await refusal([{ fields: { worktreePath: path.join(project, 'last') } }])).toContain(
      'last',
    );
  });

  it('take links that are not of the repository', async () => {
    symlinkSync(path.join(root, 'trees'), path.join(root, 'elsewhere'));
    const given = path.join(root, 'elsewhere', 'one');
    expect((await create([{ fields: { worktreePath: given } }])).made).toEqual({
      kind: 'path',
      path: given,
    });
  });

  it('refuse the project itself and what it lies in', async () => {
    symlinkSync(project, path.join(root, 'alias'));
    expect(await refusal([{ fields: { worktreePath: project } }])).toContain('not apart');
    expect(await refusal([{ fields: { worktreePath: path.join(root, 'alias') } }])).toContain(
      'not apart',
    );
    expect(await refusal([{ fields: { worktreePath: root } }])).toContain('not apart');
  });

  it('refuse when two name different paths, and name both', async () => {
    const other = path.join(root, 'other');
    mkdirSync(other);
    const reason = await refusal([
      { label: 'a.sh', fields: { worktreePath: tree } },
      { label: 'b.sh', fields: { worktreePath: other } },
    ]);
    expect(reason).toBe('a.sh and b.sh gave different paths');
  });

  it('refuse when the path cannot be looked at', async () => {
    const rig = eventHooks({ WorktreeCreate: [{ fields: { worktreePath: tree } }] });
    const fs = { ...nodeFileSystem, lstat: () => Promise.reject(new Error('EACCES')) };
    const worktrees = createWorktreeHooks({ ...rig, fs, projectDir: project });
    expect(await worktrees.create({ name: 'x' }, scene)).toMatchObject({ kind: 'refused' });
  });

  it('count for nothing when they may only restrict, except for their no', async () => {
    const limited: EventHook = { fields: { worktreePath: tree }, restrictOnly: true };
    expect((await create([limited])).made).toEqual({ kind: 'none' });
    expect(await refusal([{ ...limited, decision: 'deny' }])).toContain('said no');
  });

  it('are not asked about a name with control characters', async () => {
    const { made, fired } = await create([{ fields: { worktreePath: tree } }], 'a\u001b[2J');
    expect(made.kind).toBe('refused');
    expect(JSON.stringify(made)).not.toContain('\u001b');
    expect(fired).toEqual([]);
  });
});

describe('WorktreeRemove hooks', () => {
  it('are told, and whether there was one is known', async () => {
    const rig = eventHooks({ WorktreeRemove: [FAILED_OPEN, { decision: 'deny' }] });
    const deps = { ...rig, fs: nodeFileSystem, projectDir: project };
    expect(await createWorktreeHooks(deps).remove({ worktree_path: tree }, scene)).toBe(true);
    expect(rig.fired).toMatchObject([{ occasion: { fields: { worktree_path: tree } } }]);
    const none = createWorktreeHooks({ ...deps, ...eventHooks() });
    expect(await none.remove({ worktree_path: tree }, scene)).toBe(false);
  });
});
