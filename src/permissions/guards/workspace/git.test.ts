import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { gateRig, type Rig } from '../../../../test/support/gate-rig.js';
import { nodeFileSystem } from '../../../platform/fs/node-fs.js';
import { workspaceFence } from './fence.js';

let base = '';
let rig: Rig;

beforeAll(() => {
  base = realpathSync(mkdtempSync(join(tmpdir(), 'fence-git-')));
  const main = join(base, 'proj');
  const tree = join(main, '.claude/worktrees/agent-1');
  for (const directory of ['d1/d2/d3', 'sub']) {
    mkdirSync(join(tree, directory), { recursive: true });
  }
  symlinkSync('../../..', join(tree, 'd1/d2/d3/up'));
  writeFileSync(join(tree, 'a.txt'), 'a');
  rig = gateRig({
    cwd: tree,
    home: join(base, 'home'),
    roots: [tree],
    mode: 'bypassPermissions',
    agent: {
      id: 'a1',
      type: 'worker',
      path: 'main/worker#1',
      parentId: 'main',
      depth: 1,
      background: false,
      workspace: tree,
      isolation: 'worktree',
    },
    guards: [workspaceFence({ fs: nodeFileSystem, projectDir: main })],
  });
});

afterAll(() => rmSync(base, { recursive: true, force: true }));

const UP = 'd1/d2/d3/up';

describe('a link that a command line moves', () => {
  it.each([
    `mv ${UP} z && touch z/pwn`,
    `git mv ${UP} z && touch z/pwn`,
    `git -C . mv ${UP} z && touch z/pwn`,
    `git -c color.ui=never mv ${UP} z && touch z/pwn`,
    `git mv ${UP} z && cd z && npm init`,
    `git rm -r sub; git mv ${UP} sub && touch sub/pwn`,
    `command mv ${UP} z && touch z/pwn`,
    `timeout 5 mv ${UP} z && touch z/pwn`,
    `env mv ${UP} z && touch z/pwn`,
    `env -i A=1 mv ${UP} z && touch z/pwn`,
    `nice -n 5 mv ${UP} z && touch z/pwn`,
    `nice -n 5 cp -P ${UP} z && touch z/pwn`,
    `command timeout 5 git mv ${UP} z && touch z/pwn`,
    `mkdir z; rmdir z; git mv ${UP} z; touch z/pwn`,
    `git mv ${UP} z; mkdir -p z; touch z/pwn`,
    'git checkout other && touch sub/pwn',
    'git checkout other && cd sub && npm test',
    'git -C . checkout other && touch sub/pwn',
    'git switch other; touch sub/pwn',
    'git stash; echo x > sub/pwn',
    'git some-new-command && touch sub/pwn',
    'rm -rf sub; tar xf a.tar; touch sub/pwn',
    'timeout 9 tar xf a.tar && touch fresh/x',
  ])('is seen: %s', async (command) => {
    expect(await rig.bash(command)).not.toBe('runs');
  });

  it.each([
    'git add -A && git commit -m x && touch sub/x',
    'git checkout -b feature && touch sub/x',
    'git switch -c feature && cd sub && npm test',
    'git fetch && git status && echo x > sub/y',
    'git checkout main && npm test',
    'git pull --rebase && touch x',
    'git mv a.txt sub/ && git commit -m x',
    'git log --oneline && touch sub/x',
    'timeout 5 mv a.txt sub/ && touch sub/x',
  ])('leaves the rest alone: %s', async (command) => {
    expect(await rig.bash(command)).toBe('runs');
  });
});

describe('branches that others work on', () => {
  it.each([
    'git update-ref refs/heads/main HEAD~1',
    'git update-ref --stdin < a.txt',
    'git symbolic-ref HEAD refs/heads/main',
    'git symbolic-ref -q HEAD refs/heads/main',
    'git symbolic-ref -m why HEAD refs/heads/main',
    'git symbolic-ref --del HEAD',
    'git checkout -B main HEAD~1',
    'git checkout -qB main',
    'git switch -C main HEAD~1',
    'git switch --force-create main',
    'git switch --force-c main',
    'git checkout --ignore-other-worktrees main',
    'git switch --ignore-other main',
    'git switch --ig main',
    'git fetch -u . HEAD:main',
    'git fetch -fu . HEAD:main',
    'git fetch --update-head-ok . HEAD:main',
    'git fast-import --force < a.txt',
    'git apply --unsafe-p a.txt',
    'git pull . HEAD:main',
    'git pull -q . +HEAD:refs/heads/main',
    'git pull --depth 1 . HEAD:heads/main',
    'git pull . refs/*:refs/*',
    "git pull . 'refs/*:refs/*'",
    'git fetch . HEAD:main',
    "git fetch --refmap 'HEAD:refs/heads/main' . HEAD",
    "git fetch --refmap='HEAD:refs/heads/main' . HEAD",
    'git fetch --stdin . < a.txt',
    'git pull . H*',
    'git upd* refs/heads/main HEAD',
    'git branch -m main other2',
    'git branch -M main other2',
    'git branch -qm main other2',
    'git branch --move main other2',
    'git branch --mov main other2',
    'git branch -C feature main',
    'git branch --cop feature main',
    'git branch -M main',
    'git branch -f -m main',
    'git branch --for --move main',
    'git push . HEAD:main',
    'git push ./ HEAD:main',
    'git push -f .git HEAD:main',
    'git push ../../.. HEAD:main',
    'git push -o ci.skip . HEAD:main',
    'git push --all .',
    'git push --repo=. --all',
    'git push --repo .',
    'git push --rep=. --all',
    `git push file:///tmp/x HEAD:main`,
    'git push ssh://localhost/x HEAD:main',
    'git push localhost:x HEAD:main',
    'git send-pack . HEAD:main',
    'git subtree push --prefix sub . main',
    'git remote add me .',
    'git remote add -t x me ./sub',
    'git remote set-url origin .',
    'git remote add --mirror=fetch me https://example.com/x',
    'git filter-branch --all',
  ])('are not moved: %s', async (command) => {
    expect(await rig.bash(command)).not.toBe('runs');
  });

  it.each([
    'git symbolic-ref HEAD',
    'git symbolic-ref --short HEAD',
    'git symbolic-ref -q --short HEAD',
    'git checkout -b feature',
    'git checkout -f feature',
    'git switch --force feature',
    'git switch -c feature',
    'git fetch --unshallow',
    'git fetch --update-shallow',
    'git pull --rebase',
    'git push -u origin HEAD',
    'git branch -f feature HEAD~1',
    'git branch -m better-name',
    'git branch --merged main',
    'git branch --contains HEAD',
    'git branch -u origin/main',
    'git pull origin main',
    'git pull --rebase origin main',
    'git fetch origin main:refs/remotes/origin/main',
    "git fetch origin '+refs/pull/*:refs/remotes/origin/pr/*'",
    'git fetch --depth 1 git@example.com:owner/repo main',
    'git push',
    'git push origin HEAD:main',
    'git push https://example.com/a/b.git HEAD',
    'git push git@example.com:owner/repo HEAD:topic',
    'git remote add up https://example.com/a/b.git',
    'git remote -v',
    'git add *.txt',
  ])('are not meant: %s', async (command) => {
    expect(await rig.bash(command)).toBe('runs');
  });
});

describe('a push to a remote by its name', () => {
  const withConfig = async (config: string, command: string): Promise<string> => {
    const directory = join(base, 'proj/.git');
    mkdirSync(directory, { recursive: true });
    writeFileSync(join(directory, 'config'), config.replaceAll('@B', base));
    try {
      return await rig.bash(command);
    } finally {
      rmSync(directory, { recursive: true });
    }
  };
  const remote = (url: string): string => `[remote "origin"]\n\turl = ${url}\n`;

  it.each([
    [remote('.'), 'git push origin HEAD:main'],
    [remote('@B/proj'), 'git push origin HEAD:main'],
    [remote('file://@B/proj/.git'), 'git push -f origin HEAD:main'],
    [remote('"@B/proj"'), 'git push'],
    [remote('ext::sh -c x'), 'git push origin HEAD:main'],
    [`${remote('https://example.com/x')}\tpushurl = @B/proj\n`, 'git push origin HEAD:main'],
    [`${remote('https://example.com/x')}[branch "f"]\n\tremote = .\n`, 'git push'],
    [`${remote('https://example.com/x')}[remote] pushDefault = .\n`, 'git push'],
    [remote('https://example.com/x'), 'git push sub HEAD:main'],
  ])('is refused when it leads back: %j %s', async (config, command) => {
    expect(await withConfig(config, command)).not.toBe('runs');
  });

  it.each([
    [remote('https://example.com/x'), 'git push origin HEAD:main'],
    [remote('git@example.com:o/x.git'), 'git push -u origin HEAD'],
    [remote('@B/elsewhere/bare.git'), 'git push origin HEAD:main'],
    [`${remote('https://example.com/x')}[branch "f"]\n\tremote = origin\n`, 'git push'],
    ['[core]\n\tbare = false\n', 'git push'],
  ])('is free when it leads elsewhere: %j %s', async (config, command) => {
    expect(await withConfig(config, command)).toBe('runs');
  });
});

describe('the configuration that all trees share', () => {
  it.each([
    "GIT_EDITOR='cp evil.cfg' git config -e",
    'git config --edit',
    'git config --ed',
    'git config edit',
    'git config --local --edit',
    'git config diff.external evil',
    'git config pager.log evil',
    'git config credential.helper evil',
    'git config core.askPass evil',
    'git config remote.o.uploadpack evil',
    'git config core.pager get',
    'git config core.pager list',
    'git config --comment --get core.pager evil',
    'git config -- core.pager --get',
    'git config --add diff.x.textconv evil',
    'git config set core.pager evil',
    'git config --type=path core.fsmonitor evil',
    'git config --replace-all gpg.program evil',
    'git config some.newSetting evil',
    'git config --remove-section user',
    'git config --file x core.pager evil',
    'git config --global user.name x',
    'git -c diff.external=evil diff',
    'git -c credential.helper=evil fetch',
    'git -c some.newSetting=evil status',
    'git -c pager.log=evil log',
    'git config branch.feature.remote .',
    'git config set branch.feature.remote ../..',
    'git -c branch.f.remote=. -c push.default=upstream push',
  ])('is not changed: %s', async (command) => {
    expect(await rig.bash(command)).not.toBe('runs');
  });

  it.each([
    'git config user.email a@b.c',
    'git config --local user.name "A B"',
    'git config branch.feature.remote origin',
    'git config --unset user.email',
    'git config pull.rebase true',
    'git config remote.origin.url',
    'git config --get core.editor',
    'git config --global --get user.name',
    'git config --get-regexp "^user"',
    'git config -l',
    'git config --list --show-origin',
    'git -c user.name=x -c commit.gpgsign=false commit -m x',
    'git -c core.quotePath=off status',
    'git -c color.ui=always diff',
    'git -c branch.f.remote=origin pull',
  ])('may be looked at, and told what starts nothing: %s', async (command) => {
    expect(await rig.bash(command)).toBe('runs');
  });
});
