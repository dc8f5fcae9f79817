import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { gateRig } from '../../../test/support/gate-rig.js';
import { makeTempProject, type TempProject } from '../../testing/temp-project.js';
import { movesBranches } from '../guards/workspace/git.js';

let project: TempProject;
beforeAll(() => {
  project = makeTempProject({ files: { 'a.txt': 'a', '.git/HEAD': 'x' } });
});
afterAll(() => project.remove());

const bash = (rule: string, command: string) =>
  gateRig({ cwd: project.directory, home: project.home, allow: [rule] }).bash(command);

describe('a rule for the beginning of a command', () => {
  it.each([
    ['Bash(split:*)', "split --filter='touch P' a.txt"],
    ['Bash(make test:*)', "make test X='$(shell touch P)'"],
    ['Bash(make *)', 'make RM=./evil clean'],
    ['Bash(gcc:*)', 'gcc -wrapper ./evil a.c'],
    ['Bash(gcc:*)', 'gcc -fplugin=./evil.so a.c'],
    ['Bash(scp:*)', 'scp -S ./evil a.txt h:'],
    ['Bash(ssh:*)', 'ssh -I ./evil.so h'],
    ['Bash(git send-email:*)', 'git send-email --to-cmd=./evil x.patch'],
    ['Bash(tcpdump:*)', 'tcpdump -z ./evil'],
    ['Bash(pandoc:*)', 'pandoc --filter ./evil a.md'],
    ['Bash(protoc:*)', 'protoc --plugin=./evil a.proto'],
    ['Bash(bazel:*)', 'bazel run --run_under=./evil //x'],
    ['Bash(cmake:*)', 'cmake -E env ./evil'],
    ['Bash(python -m pytest:*)', 'python -m pytest -p evil'],
    ['Bash(go build:*)', 'go build -ldflags "-linkmode=external -extld=./evil"'],
    ['Bash(go test:*)', 'go test -coverprofile=/x'],
    ['Bash(rustc:*)', 'rustc -C linker=./evil a.rs'],
    ['Bash(prettier:*)', 'prettier --plugin=./evil.js .'],
    ['Bash(eslint:*)', 'eslint --config evil.js .'],
    ['Bash(terser:*)', 'cat a.txt | xargs terser'],
    ['Bash(git config:*)', 'git config tar.x.command ./evil'],
    ['Bash(git config:*)', 'git config sendemail.tocmd ./evil'],
    ['Bash(git config:*)', 'git config --rename-section a core'],
    ['Bash(git config:*)', 'git config --edit'],
    ['Bash(ls:*)', 'timeout 5$X ls'],
    ['Bash(ls:*)', 'timeout -k $X 5 ls'],
    ['Bash(ls:*)', 'nice -n 5* ls'],
    ['Bash(ls:*)', 'stdbuf -o$X ls'],
  ])('%s does not cover %s', async (rule, command) => {
    expect(await bash(rule, command)).toBe('asks');
  });

  it.each([
    ['Bash(make *)', 'make ENV=prod deploy'],
    ['Bash(go build:*)', 'go build ./...'],
    ['Bash(gcc:*)', 'gcc -Wall -O2 -o a a.c'],
    ['Bash(eslint:*)', 'eslint src --fix'],
    ['Bash(python -m pytest:*)', 'python -m pytest -q tests'],
    ['Bash(prettier:*)', 'prettier --check .'],
    ['Bash(split:*)', 'split -l 10 a.txt'],
    ['Bash(split:*)', 'timeout -k 5 10 nice -n 3 stdbuf -oL split -l 10 a.txt'],
  ])('%s covers %s', async (rule, command) => {
    expect(await bash(rule, command)).toBe('runs');
  });
});

describe('git in a tree of its own', () => {
  it.each([
    ['replace', 'HEAD HEAD~1'],
    ['gc', '--prune=now'],
    ['prune', ''],
    ['reflog', 'expire --all --expire=now'],
    ['repack', '-ad'],
    ['update-ref', 'refs/heads/main HEAD'],
  ])('does not touch what all trees share: %s %s', (subcommand, text) => {
    const rest = text.split(' ');
    expect(movesBranches(subcommand, rest, { whole: true })).toBeDefined();
  });

  it.each([
    ['reflog', 'show'],
    ['commit', '-m x'],
    ['stash', 'list'],
  ])('goes on: %s %s', (subcommand, text) => {
    const rest = text.split(' ');
    expect(movesBranches(subcommand, rest, { whole: true })).toBeUndefined();
  });
});
