import { mkdirSync, symlinkSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { gateRig } from '../../../test/support/gate-rig.js';
import { makeTempProject, type TempProject } from '../../testing/temp-project.js';

let project: TempProject;
beforeAll(() => {
  project = makeTempProject({
    files: { '.git/hooks/pre-commit': 'x', '.git/config': '[core]', payload: 'p', 'src/a.ts': 'a' },
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
