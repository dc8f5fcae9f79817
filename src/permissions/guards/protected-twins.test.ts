import { linkSync, mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { gateRig } from '../../../test/support/gate-rig.js';
import { nodeFileSystem } from '../../platform/fs/node-fs.js';
import { makeTempProject, type TempProject } from '../../testing/temp-project.js';

let project: TempProject;
beforeAll(() => {
  project = makeTempProject({
    files: {
      '.git/config': '[core]',
      '.git/objects/ab/cdef': 'o',
      '.claude/settings.json': '{}',
      '.claude/worktrees/w/src/a.ts': 'a',
      'sub/.vscode/tasks.json': '{}',
      'sub/.envrc': 'x',
      'node_modules/p/.npmrc': 'x',
      'src/one.ts': '1',
    },
    home: { '.bashrc': 'b', '.config/fish/conf.d/x.fish': 'f', '.config/other/x': 'o' },
  });
  const twin = (of: string, name: string): void => linkSync(of, project.at(name));
  twin(project.at('.git/config'), 'git.txt');
  twin(project.at('.git/objects/ab/cdef'), 'object.txt');
  twin(project.at('.claude/settings.json'), 'settings.txt');
  twin(project.at('.claude/worktrees/w/src/a.ts'), 'tree.txt');
  twin(project.at('sub/.vscode/tasks.json'), 'tasks.txt');
  twin(project.at('sub/.envrc'), 'src/envrc.txt');
  twin(project.at('node_modules/p/.npmrc'), 'package.txt');
  twin(project.at('src/one.ts'), 'src/two.ts');
  twin(path.join(project.home, '.bashrc'), 'shell.txt');
  twin(path.join(project.home, '.config/fish/conf.d/x.fish'), 'fish.txt');
  twin(path.join(project.home, '.config/other/x'), 'other.txt');
  mkdirSync(path.join(project.root, 'own/deep'), { recursive: true });
  writeFileSync(path.join(project.root, 'own/deep/trust.json'), '{}');
  twin(path.join(project.root, 'own/deep/trust.json'), 'own.txt');
});
afterAll(() => project.remove());

type Mode = 'default' | 'acceptEdits' | 'bypassPermissions';

function rig(mode: Mode = 'acceptEdits', fs = nodeFileSystem) {
  const { directory: cwd, home } = project;
  const facts = { own: [path.join(project.root, 'own')] };
  return gateRig({ cwd, home, fs, mode, facts, allow: ['Bash', 'Edit', 'Read'] });
}
const edit = (name: string) =>
  ['Edit', { file_path: project.at(name), old_string: 'a', new_string: 'b' }] as const;

describe('writing to another name of a protected file', () => {
  it.each([
    ['git.txt', '.git/config'],
    ['settings.txt', '.claude/settings.json'],
    ['tasks.txt', 'sub/.vscode/tasks.json'],
    ['src/envrc.txt', 'sub/.envrc'],
    ['shell.txt', '.bashrc'],
    ['fish.txt', 'x.fish'],
    ['own.txt', 'trust.json'],
  ])('is asked about: %s is %s', async (name, of) => {
    const verdict = await rig().call(...edit(name));
    expect(verdict.kind).not.toBe('allowed');
    expect(verdict.kind === 'allowed' ? '' : verdict.message).toContain(of);
    expect(await rig().bash(`echo x > ${name}`)).toBe('asks');
    expect(await rig().bash(`printf x | tee -a ${name}`)).toBe('asks');
    expect(await rig().bash(`cp src/one.ts ${name}`)).toBe('asks');
  });

  it('is asked about where questions are off, for what stays closed then', async () => {
    for (const name of ['git.txt', 'settings.txt', 'shell.txt', 'own.txt', 'src/envrc.txt'])
      expect(await rig('bypassPermissions').outcome(...edit(name)), name).toBe('asks');
    expect(await rig('bypassPermissions').outcome(...edit('tasks.txt'))).toBe('runs');
  });

  it.each(['object.txt', 'tree.txt', 'package.txt', 'src/one.ts', 'src/two.ts', 'other.txt'])(
    'is writing to a file like others where none is protected: %s',
    async (name) => {
      expect(await rig().outcome(...edit(name))).toBe('runs');
      expect(await rig().bash(`echo x > ${name}`)).toBe('runs');
    },
  );

  it('does not matter for reading', async () => {
    expect(await rig().outcome('Read', { file_path: project.at('git.txt') })).toBe('runs');
    expect(await rig().bash('cat git.txt')).toBe('runs');
  });

  it('is looked for once, and not for files with one name', async () => {
    let looked = 0;
    const fs: typeof nodeFileSystem = {
      ...nodeFileSystem,
      list(at) {
        if (at === project.at('.git')) looked++;
        return nodeFileSystem.list(at);
      },
    };
    await rig('acceptEdits', fs).bash('echo x > new.txt; touch sub/.x');
    expect(looked).toBe(0);
    await rig('acceptEdits', fs).bash('touch src/one.ts src/two.ts other.txt tree.txt');
    expect(looked).toBe(1);
  });

  it('is asked about where protected files cannot be seen', async () => {
    const fs: typeof nodeFileSystem = {
      ...nodeFileSystem,
      list: (at) =>
        at === project.at('.git')
          ? Promise.reject(Object.assign(new Error('no'), { code: 'EACCES' }))
          : nodeFileSystem.list(at),
    };
    expect(await rig('acceptEdits', fs).outcome(...edit('src/one.ts'))).toBe('asks');
    expect(await rig('acceptEdits', fs).outcome(...edit('src/new.ts'))).toBe('runs');
  });
});
