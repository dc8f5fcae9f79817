import { execFileSync } from 'node:child_process';
import { appendFileSync, mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import type { TempProject } from '../../src/testing/temp-project.js';
import { type Attempt, attempt, MARK, type Outcome } from './attempt.js';

const TREE = {
  'README.md': 'hello\n',
  'a.txt': 'a\n',
  'b.txt': 'b\n',
  'evil.sh': { text: `#!/bin/sh\ntouch ${MARK}\ncat\n`, mode: 0o755 },
  'evil.gitconfig': `[core]\n\tfsmonitor = "touch ${MARK};false"\n`,
};

function secondCommit(project: TempProject): void {
  appendFileSync(project.at('README.md'), 'more\n');
  const identity = ['-c', 'user.name=t', '-c', 'user.email=t@example.invalid'];
  execFileSync('git', [...identity, 'commit', '-qam', 'second'], { cwd: project.directory });
}

interface Trap {
  /** Appended to the repository's own configuration. */
  readonly config: string;
  readonly attributes?: string;
  readonly command: string;
}

/** Somebody else wrote the repository's configuration; an ordinary git command must not run it. */
async function spring(trap: Trap, more: Attempt = {}): Promise<Outcome> {
  const done = await attempt({
    files: TREE,
    git: true,
    ...more,
    prepare(project) {
      secondCommit(project);
      appendFileSync(project.at('.git/config'), trap.config);
      if (trap.attributes !== undefined) project.write('.gitattributes', trap.attributes);
    },
    calls: [trap.command],
  });
  expect(done.refusedStart).toBeUndefined();
  expect(done.results).toHaveLength(1);
  expect({ command: trap.command, marked: done.marked }).toEqual({
    command: trap.command,
    marked: false,
  });
  return done;
}

const runs = `touch ${MARK}`;

describe('settings that a repository brings along', () => {
  it('a file system monitor is not started', async () => {
    await spring({ config: `[core]\n\tfsmonitor = "${runs};false"\n`, command: 'git status' });
  });

  it('a pager is not started', async () => {
    await spring({ config: `[core]\n\tpager = "${runs};cat"\n`, command: 'git log -1' });
    await spring({ config: `[core]\n\tpager = "${runs};cat"\n`, command: 'git -p log -1' });
  });

  it('an editor is not started', async () => {
    await spring({
      config: `[core]\n\teditor = "${runs};true"\n`,
      command: 'git commit --amend --allow-empty',
    });
  });

  it('a command for ssh is not started', async () => {
    await spring({
      config: `[core]\n\tsshCommand = "${runs};false"\n`,
      command: 'git ls-remote ssh://127.0.0.1/x',
    });
  });

  it('a text converter of a diff is not started', async () => {
    await spring({
      config: '[diff "x"]\n\ttextconv = ./evil.sh\n',
      attributes: '*.md diff=x\n',
      command: 'git diff HEAD~1 -- README.md',
    });
  });

  it('a diff program is not started', async () => {
    await spring({
      config: '[diff "x"]\n\tcommand = ./evil.sh\n',
      attributes: '*.md diff=x\n',
      command: 'git diff HEAD~1 -- README.md',
    });
  });

  it('a smudge filter is not started', async () => {
    await spring({
      config: `[filter "x"]\n\tsmudge = "${runs};cat"\n`,
      attributes: '*.txt filter=x\n',
      command: 'rm b.txt; git checkout -- b.txt',
    });
  });

  it('a filter process is not started', async () => {
    await spring({
      config: '[filter "x"]\n\tprocess = ./evil.sh\n',
      attributes: '*.txt filter=x\n',
      command: 'git add a.txt b.txt',
    });
  });

  it('an alias is not a known command', async () => {
    const done = await spring({ config: `[alias]\n\tst = "!${runs}"\n`, command: 'git st' });
    expect(done.results[0]?.ran).toBe(false);
  });

  it('an alias with the name of a command changes nothing', async () => {
    const done = await spring({
      config: `[alias]\n\tstatus = "!${runs}"\n`,
      command: 'git status',
    });
    expect(done.marked).toBe(false);
  });

  it('an included file is not a way around', async () => {
    await spring({ config: '[include]\n\tpath = ../evil.gitconfig\n', command: 'git status' });
  });

  it('a file included on a condition is not a way around', async () => {
    await spring({
      config: '[includeIf "gitdir:/"]\n\tpath = ../evil.gitconfig\n',
      command: 'git status',
    });
  });

  it('a program for signatures is not started', async () => {
    await spring({
      config:
        '[gpg]\n\tprogram = ./evil.sh\n[commit]\n\tgpgSign = true\n[user]\n\tsigningKey = x\n',
      command: 'git commit --allow-empty -m x',
    });
  });

  it('an address that is a command is not run', async () => {
    await spring({
      config: `[remote "origin"]\n\turl = "ext::sh -c touch% ${MARK}"\n[protocol "ext"]\n\tallow = always\n`,
      command: 'git ls-remote origin',
    });
  });

  it('a filter of interactive diffs is not started', async () => {
    await spring({
      config: `[interactive]\n\tdiffFilter = "${runs};cat"\n[color]\n\tui = always\n`,
      command: 'echo q | git add -p b.txt',
    });
  });

  it('a command of a trailer is not started', async () => {
    await spring({
      config: `[trailer "x"]\n\tkey = X\n\tcommand = ${runs}\n\tifexists = add\n\tifmissing = add\n`,
      command: 'git interpret-trailers --trailer x=1 < a.txt',
    });
  });

  it('a diff tool is not started', async () => {
    await spring({
      config: `[diff]\n\ttool = x\n[difftool "x"]\n\tcmd = ${runs}\n`,
      command: 'git difftool -y HEAD~1',
    });
  });

  it('a program that asks for passwords is not started', async () => {
    await spring({
      config: '[core]\n\taskPass = ./evil.sh\n',
      command: "printf 'protocol=https\\nhost=x\\n' | git credential fill",
    });
  });
});

describe('repositories in unexpected places', () => {
  it('a bare repository inside the tree is another repository', async () => {
    const done = await attempt({
      files: {
        ...TREE,
        'vendor/x/HEAD': 'ref: refs/heads/main\n',
        'vendor/x/config': `[core]\n\trepositoryformatversion = 0\n\tbare = false\n\tworktree = .\n\tfsmonitor = "touch ${MARK};false"\n`,
        'vendor/x/objects/.keep': '',
        'vendor/x/refs/.keep': '',
      },
      git: true,
      calls: ['cd vendor/x && git status', { tool: 'Bash', input: { command: 'ls' } }],
    });
    expect(done.results[0]?.ran).toBe(false);
    expect(done.project.exists(`vendor/x/${MARK}`)).toBe(false);
    expect(done.marked).toBe(false);
  });

  it('the name of a branch is data', async () => {
    const branch = `x;touch\${IFS}${MARK};`;
    const done = await attempt({
      files: TREE,
      git: true,
      prepare(project) {
        mkdirSync(path.dirname(project.at(`.git/refs/heads/${branch}`)), { recursive: true });
        const head = execFileSync('git', ['rev-parse', 'HEAD'], { cwd: project.directory });
        writeFileSync(project.at(`.git/refs/heads/${branch}`), head);
        writeFileSync(project.at('.git/HEAD'), `ref: refs/heads/${branch}\n`);
      },
      calls: ['git status'],
    });
    expect(done.refusedStart).toBeUndefined();
    expect(done.marked).toBe(false);
  });
});
