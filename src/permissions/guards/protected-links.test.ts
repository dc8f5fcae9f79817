import { mkdirSync, rmSync, symlinkSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { gateRig } from '../../../test/support/gate-rig.js';
import { makeTempProject, type TempProject } from '../../testing/temp-project.js';

let project: TempProject;
beforeAll(() => {
  project = makeTempProject({
    files: {
      '.git/hooks/pre-commit': 'x',
      '.git/config': '[core]',
      payload: 'p',
      'src/a.ts': 'a',
      'from/deep/out': 'x',
      'from/out': 'x',
      'from/other': 'x',
    },
  });
  mkdirSync(project.at('build'));
  symlinkSync('../.git/hooks/pre-commit', project.at('build/out'));
  symlinkSync('../.git', project.at('build/dir'));
});
afterAll(() => project.remove());

const rig = (mode: 'default' | 'bypassPermissions', allow: string[]) =>
  gateRig({ cwd: project.directory, home: project.home, mode, allow });

describe('a link to a protected path that no name tells of', () => {
  it.each([
    'cp payload build/out',
    'cp payload build/o*',
    'tee build/out',
    'install payload build/out',
    'touch build/dir/config',
    'echo x > build/out',
    'pushd build/dir; rm -rf hooks',
    `python3 -c "open('build/out', 'w')"`,
    `python3 -c "open('build/out',\n mode='w')"`,
  ])('is asked about in every mode: %s', async (command) => {
    expect(await rig('default', ['Bash', 'Edit']).bash(command)).toBe('asks');
    expect(await rig('bypassPermissions', []).bash(command)).toBe('asks');
  });

  it('is asked about under a rule for the program', async () => {
    expect(await rig('default', ['Bash(cp *)']).bash('cp payload build/out')).toBe('asks');
  });

  it.each([
    'cp payload build/x',
    'tee src/a.ts',
    'npm test',
    `python3 -c "print(open('build/out').read())"`,
    'cat build/out',
  ])('is not found where there is none, or where it is only read: %s', async (command) => {
    expect(await rig('bypassPermissions', []).bash(command)).toBe('runs');
  });
});

describe('a copy onto a directory that has a link under a name of its source', () => {
  it.each([
    'cp from/* build',
    'cp from/o?t build',
    'cp -t build from/*',
    'cp from/out bui*',
    'cp --parents from/* copies',
    'cd from && cp * ../build',
    'cp -r from/. build',
    'cp -rT from build',
    'cp -a from/deep/ build',
    'cp -r from/deep/.. build',
    'install from/* build',
    'rsync -a from/ build',
    'env cp from/* build',
    'for i in 1 2; do cp -r from/. build; done',
  ])('is asked about in every mode, also under a rule for the program: %s', async (command) => {
    mkdirSync(project.at('copies/from'), { recursive: true });
    symlinkSafely('../../.git/config', project.at('copies/from/out'));
    expect(await rig('default', ['Bash', 'Edit']).bash(command)).toBe('asks');
    expect(await rig('bypassPermissions', []).bash(command)).toBe('asks');
    expect(await rig('default', ['Bash(cp *)', 'Bash(rsync *)']).bash(command)).toBe('asks');
  });

  it.each([
    'cp from/other build',
    'cp from/oth* build',
    'cp -r from/deep build',
    'cp -r from elsewhere',
    'cp -r from/. .',
    'rsync -a from build',
  ])('is not where it has none: %s', async (command) => {
    expect(await rig('bypassPermissions', []).bash(command)).toBe('runs');
  });

  it('is held by a rule about what the link leads to', async () => {
    symlinkSafely('src/a.ts', project.at('other'));
    const guarded = gateRig({
      cwd: project.directory,
      home: project.home,
      mode: 'bypassPermissions',
      deny: ['Edit(./src/**)'],
    });
    expect(await guarded.bash('cp -r from/. .')).toBe('denied');
    expect(await guarded.bash('cp from/out* .')).toBe('runs');
    rmSync(project.at('other'));
  });
});

function symlinkSafely(target: string, path: string): void {
  rmSync(path, { force: true });
  symlinkSync(target, path);
}
