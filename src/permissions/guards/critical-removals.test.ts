import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { gateRig } from '../../../test/support/gate-rig.js';
import { makeTempProject, type TempProject } from '../../testing/temp-project.js';

let project: TempProject;
beforeAll(() => {
  project = makeTempProject({ files: { 'build/x': 'x', 'src/a.txt': 'a', 'a.log': 'l' } });
});
afterAll(() => project.remove());

const bash = (command: string): Promise<string> => {
  const { directory: cwd, home } = project;
  return gateRig({ cwd, home, mode: 'bypassPermissions' }).bash(command);
};

describe('the removal of a place that holds everything else is asked about', () => {
  it.each([
    'rm -rf ~+',
    'rm -rf ~+/..',
    'rm -rf ~-',
    'rm -rf ~root',
    `rm -rf \${HOME%/}/`,
    `rm -rf "\${HOME:?}"/*`,
    `rm -rf \${PWD%/*}`,
    'rm -rf $OLDPWD',
    'rm -rf $(pwd)',
    'rm -rf "$(git rev-parse --show-toplevel)"/*',
    'rm -rf $(dirname $PWD)',
    `rm -rf \${x}\${y}/*`,
    'rm -rf /proc/self/cwd/..',
    'd=/; rm -rf $d',
    'd=..; rm -rf "$d"',
    'd=$HOME; rm -rf "$d"',
    'for d in / ~; do rm -rf $d; done',
    'for d in /*; do rm -rf "$d"; done',
    'for d in *; do rm -rf "$d"; done',
    'eval rm -rf ~',
    "bash <<< 'rm -rf ~'",
    "echo 'rm -rf /' | sh",
    'xargs rm -rf <<< /',
    'echo ~ | xargs rm -rf',
    'ls -d ~ | xargs rm -rf',
    'ls | xargs rm -rf',
  ])('%s', async (command) => {
    expect(await bash(command)).toBe('asks');
  });

  it('by a pattern above the last name, and from a directory that is not known', async () => {
    const { directory } = project;
    const [, first = ''] = directory.split('/');
    const rest = directory.slice(first.length + 2);
    expect(await bash(`rm -rf /${first.slice(0, -1)}*/${rest}`)).toBe('asks');
    expect(await bash(`pushd ..; rm -rf ${path.basename(directory)}`)).toBe('asks');
    expect(await bash(`cd -P build/..; rm -rf ${path.basename(directory)}`)).toBe('asks');
  });
});

describe('other removals run', () => {
  it.each([
    'rm -rf build',
    'rm -rf ./build/*',
    'rm -f *.log',
    'd=build; rm -rf "$d"',
    'd=build; rm -rf $d/x',
    'rm -rf "$TMP/x"',
    'rm -rf $(mktemp -d)/x',
    'rm -rf "$PWD/build"',
    'for d in build dist; do rm -rf "$d"; done',
    'for f in *.log; do rm "$f"; done',
    'rm -rf */build',
    'find . -name "*.log" | xargs rm -f',
    'echo build | xargs rm -rf',
    'git ls-files -o | xargs rm -f',
    'pushd src; rm -rf build',
    'eval "$(x)"; rm -rf build',
  ])('%s', async (command) => {
    expect(await bash(command)).toBe('runs');
  });
});
