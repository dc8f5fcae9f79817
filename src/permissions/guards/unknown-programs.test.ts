import { afterAll, describe, expect, it } from 'vitest';
import { gateRig } from '../../../test/support/gate-rig.js';
import { makeTempProject } from '../../testing/temp-project.js';

const project = makeTempProject({ files: { '.env': 'X=1', 'sub/.env': 'X=2', 'src/a.ts': '' } });
afterAll(() => project.remove());
const gate = gateRig({
  cwd: project.directory,
  home: project.home,
  mode: 'default',
  allow: ['Bash'],
  deny: ['Read(./.env)', 'Read(sub/.env)', 'Edit(./src/**)'],
});

describe('a program that no table knows', () => {
  it.each([
    'frob .git/config',
    'frob --file=.git/config',
    'frob -c.bashrc',
    'timeout 5 frob .git/config',
    'sudo frob .claude/settings.json',
    'find . -exec frob .git/config ;',
    'frob src/a.ts',
  ])('may write what it is given: %s', async (command) => {
    expect(await gate.bash(command)).toBe('asks');
  });

  it.each([
    'frob README.md',
    'cat .git/config',
    'timeout 5 cat .git/config',
    'ls .git',
    'cat src/a.ts',
  ])('does not hold up others: %s', async (command) => {
    expect(await gate.bash(command)).toBe('runs');
  });

  it.each([
    'frob .{env,x}',
    "frob '.{env,x}'",
    'frob {.e,x}nv',
    "frob '{a,{b,.env}}'",
    'frob sub/{.env,a}',
    'frob --in=.{env,x}',
    'frob .e{n..p}v',
  ])('is not given a denied file by braces: %s', async (command) => {
    expect(await gate.bash(command)).toBe('denied');
  });

  it.each(['frob .{e,x}n*', `frob ${'{a,b}'.repeat(8)}`])(
    'is asked about where braces are not spelled out: %s',
    async (command) => {
      expect(await gate.bash(command)).toBe('asks');
    },
  );
});
