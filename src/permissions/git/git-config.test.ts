import { execFileSync } from 'node:child_process';
import { appendFileSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { afterAll, describe, expect, it } from 'vitest';
import { nodeFileSystem } from '../../platform/fs/node-fs.js';
import { makeTempProject, type TempProject } from '../../testing/temp-project.js';
import { repositoryTrap } from './config.js';

const projects: TempProject[] = [];
afterAll(() => {
  for (const project of projects) project.remove();
});

function repository(config = ''): TempProject {
  const project = makeTempProject({ files: { 'a.txt': 'a', 'sub/b.txt': 'b' }, git: true });
  projects.push(project);
  appendFileSync(project.at('.git/config'), config);
  return project;
}

const trapIn = (directory: string) => repositoryTrap(nodeFileSystem, directory);

describe('what a repository would have git start', () => {
  it.each([
    ['nothing at all', ''],
    ["git's own monitor", '[core]\n\tfsmonitor = true\n'],
    ['a monitor that is switched off', '[core]\n\tfsmonitor = false # not here\n'],
    ['hooks elsewhere', '[core]\n\thooksPath = .husky/_\n'],
    ['a key for connections', '[core]\n\tsshCommand = ssh -i key\n'],
    ['names and remotes', '[user]\n\tname = x\n[remote "origin"]\n\turl = https://h/x\n'],
    ['an alias', '[alias]\n\tst = "!touch x"\n'],
    ['comments', '# [core]\n; fsmonitor = ./x\n'],
  ])('is nothing for %s', async (_name, config) => {
    const project = repository(config);
    expect(await trapIn(project.directory)).toBeUndefined();
    expect(await trapIn(project.at('sub'))).toBeUndefined();
  });

  it.each([
    ['core.fsmonitor', '[core]\n\tfsmonitor = ./x\n'],
    ['core.fsmonitor', '[CORE] FsMonitor = "./x"\n'],
    ['core.fsmonitor', '[core]\n\tfsmonitor = \\\n./x\n'],
    ['core.pager', '[core]\n\tpager = ./x\n'],
    ['diff.external', '[diff]\n\texternal = ./x\n'],
    ['diff.x.textconv', '[diff "x"]\n\ttextconv = ./x\n'],
    ['diff.a.b.command', '[diff "a.b"]\n\tcommand = ./x\n'],
    ['filter.x.clean', '[filter "x"]\n\tclean = ./x\n'],
    ['gpg.ssh.program', '[gpg "ssh"]\n\tprogram = ./x\n'],
    ['include.path', '[include]\n\tpath = ../x\n'],
    ['includeif.gitdir:/.path', '[includeIf "gitdir:/"]\n\tpath = ../x\n'],
    ['core.sshcommand', '[core]\n\tsshCommand = ./x\n[remote "origin"]\n\tpromisor = true\n'],
  ])('is %s', async (key, config) => {
    expect(await trapIn(repository(config).directory)).toContain(key);
  });

  it('is noticed when it is added later', async () => {
    const project = repository();
    expect(await trapIn(project.directory)).toBeUndefined();
    appendFileSync(project.at('.git/config'), '[core]\n\tfsmonitor = ./x\n');
    expect(await trapIn(project.directory)).toContain('core.fsmonitor');
  });

  it('is looked for in linked working trees too', async () => {
    const project = repository();
    execFileSync('git', ['worktree', 'add', '-q', '../linked'], {
      cwd: project.directory,
      stdio: 'ignore',
    });
    const linked = `${project.root}/linked`;
    expect(await trapIn(linked)).toBeUndefined();
    appendFileSync(project.at('.git/config'), '[core]\n\tpager = ./x\n');
    expect(await trapIn(linked)).toContain('core.pager');
  });

  it('is a hook that looking runs', async () => {
    const project = repository();
    mkdirSync(project.at('.git/hooks'), { recursive: true });
    writeFileSync(project.at('.git/hooks/post-index-change'), '#!/bin/sh\n');
    expect(await trapIn(project.directory)).toContain('post-index-change');
  });

  it('is a directory that poses as a repository', async () => {
    const project = repository();
    for (const name of ['objects', 'refs']) mkdirSync(project.at(`sub/${name}`));
    writeFileSync(project.at('sub/HEAD'), 'ref: refs/heads/main\n');
    expect(await trapIn(project.at('sub'))).toContain('looks like a repository');
  });

  it('is everything that cannot be read', async () => {
    expect(await trapIn(repository('[core\n').directory)).toContain('cannot be read');
    const linked = repository();
    execFileSync('rm', [linked.at('.git/config')]);
    symlinkSync('/dev/zero', linked.at('.git/config'));
    expect(await trapIn(linked.directory)).toContain('cannot be read');
  });
});
