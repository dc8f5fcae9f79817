import { execFileSync } from 'node:child_process';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { makeTempProject, type TempProject } from '../../src/testing/temp-project.js';
import { gateRig, type Rig } from '../support/gate-rig.js';

let project: TempProject;
beforeAll(() => {
  project = makeTempProject({ files: { 'a.txt': 'x\n', list: '/etc/passwd\n', x: 'p\n' } });
  execFileSync('git', ['init', '-q', project.directory]);
});
afterAll(() => project.remove());

const rig = (more: { allow?: readonly string[]; deny?: readonly string[] } = {}): Rig =>
  gateRig({ cwd: project.directory, home: project.home, ...more });

describe('commands that write or run something by an unusual word', () => {
  it.each([
    'echo x | uniq - .claude/settings.json',
    'echo x | timeout 5 uniq - .git/hooks/pre-commit',
    'echo x | xxd - .git/config',
    'strings @list',
    'git config edit --local',
  ])('are asked about without a rule: %s', async (command) => {
    expect(await rig().bash(command)).toBe('asks');
  });

  it('are refused where a rule denies the file', async () => {
    const denied = rig({ allow: ['Bash'], deny: ['Edit(.git/**)'] });
    expect(await denied.bash('echo x | uniq - .git/config')).toBe('denied');
    expect(await denied.bash("sed -n 's[x[y[w .git/config];[z[' a.txt")).not.toBe('runs');
  });

  it.each([
    'git -C . push origin main',
    'git --no-pager push',
    'git -c a.b=c push',
    'npm -w x publish',
    'npm --silent publish',
  ])('are not let pass by a rule for the subcommand: %s', async (command) => {
    const denied = [
      'Bash(git push *)',
      'Bash(git push)',
      'Bash(npm publish *)',
      'Bash(npm publish)',
    ];
    expect(await rig({ allow: ['Bash'], deny: denied }).bash(command)).toBe('asks');
  });

  it.each([
    ['Bash(sed -n *)', "sed -n 's[x[touch P[e;#];[z[' a.txt"],
    ['Bash(sed *)', "sed 's]x]y]w P' a.txt"],
    ['Bash(sed -n *)', 'sed -n -f x a.txt'],
    ['Bash(sed -n *)', 'sed -n --file=x a.txt'],
    ['Bash(sed -n *)', `echo '"1e touch P" a.txt' | xargs sed -n`],
    ['Bash(curl *)', "curl -w '%output{x}y' http://127.0.0.1"],
    ['Bash(awk *)', 'ls | xargs awk'],
    ['Bash(awk *)', 'awk -bf x a.txt'],
    ['Bash(awk *)', 'awk --fil x a.txt'],
    ['Bash(awk *)', 'awk -dP 1 a.txt'],
    ['Bash(git *)', "git --attr-source HEAD -c core.fsmonitor='touch P' status"],
    ['Bash(git -C *)', "git -C . -c core.fsmonitor='touch P' status"],
    ['Bash(git *)', 'git merge-index ./run.sh -a'],
    ['Bash(git *)', "git remote-ext o 'sh -c touch% P'"],
    ['Bash(git *)', 'git merge -s evil main'],
    ['Bash(git *)', 'git some-alias'],
    ['Bash(tar *)', 'tar dIf ./prog x.tar'],
    ['Bash(tar *)', 'tar 7xIf ./prog x.tar'],
    ['Bash(env *)', 'env touch P'],
    ['Bash(env *)', 'env LD_PRELOAD=./x.so ls'],
  ])('are not covered by %s: %s', async (rule, command) => {
    expect(await rig({ allow: [rule] }).bash(command)).toBe('asks');
  });

  it.each([
    ['Bash(sed -n *)', "sed -n 's/[/]/x/p' a.txt"],
    ['Bash(awk *)', "awk -F: -v a=1 '{print $1}' a.txt"],
    ['Bash(git *)', 'git --no-pager log --oneline'],
    ['Bash(git -C *)', 'git -C . status'],
    ['Bash(git some-alias *)', 'git some-alias x'],
    ['Bash(tar *)', 'tar xzf x.tar.gz'],
    ['Bash(env NODE_ENV=test npm *)', 'env NODE_ENV=test npm test'],
  ])('are covered where the rule names all of it: %s', async (rule, command) => {
    expect(await rig({ allow: [rule] }).bash(command)).toBe('runs');
  });
});

describe('a repository whose configuration starts programs or looks elsewhere', () => {
  it.each([
    ['merge.x.driver', 'touch P'],
    ['core.worktree', '../../outside'],
  ])('is asked about: %s', async (key, value) => {
    execFileSync('git', ['config', key, value], { cwd: project.directory });
    try {
      expect(await rig().bash('git log -1 --oneline')).toBe('asks');
    } finally {
      execFileSync('git', ['config', '--unset', key], {
        cwd: project.directory,
        env: {
          ...process.env,
          GIT_WORK_TREE: project.directory,
          GIT_DIR: `${project.directory}/.git`,
        },
      });
    }
    expect(await rig().bash('git log -1 --oneline')).toBe('runs');
  });
});

it('judges a script of sed with many blanks at once', async () => {
  const command = `sed '${' '.repeat(60_000)}x' a.txt`;
  expect(await rig({ allow: ['Bash(sed *)'] }).bash(command)).not.toBe('denied');
});
