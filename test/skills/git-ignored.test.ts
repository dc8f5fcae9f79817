import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import path from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { nodeFileSystem } from '../../src/platform/fs/node-fs.js';
import { createProcessSupervisor } from '../../src/platform/process/node-process.js';
import { gitIgnored } from '../../src/skills/discovery/find-nested.js';
import { makeTempProject, type TempProject } from '../../src/testing/temp-project.js';

const projects: TempProject[] = [];
afterEach(() => {
  for (const project of projects.splice(0)) project.remove();
});

function enter(git: boolean): TempProject {
  const project = makeTempProject({
    git,
    files: {
      '.gitignore': 'out/\n/one/.claude/\n',
      'out/.claude/skills/a/SKILL.md': 'x',
      'one/.claude/skills/a/SKILL.md': 'x',
      'two/.claude/skills/a/SKILL.md': 'x',
      'evil.sh': { text: `#!/bin/sh\ntouch "$(dirname "$0")/made"\n`, mode: 0o755 },
    },
  });
  projects.push(project);
  return project;
}

function asker(project: TempProject, env = process.env) {
  const processes = createProcessSupervisor({ stateDirectory: path.join(project.root, 'state') });
  return gitIgnored({ fs: nodeFileSystem, processes, env, isTrusted: async () => true });
}

describe('what git ignores', () => {
  it('is told by git', async () => {
    const project = enter(true);
    const isIgnored = asker(project);
    const at = (name: string) => project.at(`${name}/.claude/skills`);
    expect(await Promise.all([at('out'), at('one'), at('two')].map(isIgnored))).toEqual([
      true,
      true,
      false,
    ]);
  });

  it('is nothing outside of a repository', async () => {
    const project = enter(false);
    expect(await asker(project)(project.at('out/.claude/skills'))).toBe(false);
  });

  it('is asked without running what a repository wants to be run', async () => {
    const project = enter(true);
    execFileSync('git', ['config', 'core.fsmonitor', project.at('evil.sh')], {
      cwd: project.directory,
    });
    expect(await asker(project)(project.at('out/.claude/skills'))).toBe(true);
    expect(existsSync(project.at('made'))).toBe(false);
  });

  it('is not known without git, and that is not a no', async () => {
    const project = enter(true);
    const isIgnored = asker(project, { PATH: path.join(project.root, 'empty') });
    await expect(isIgnored(project.at('two/.claude/skills'))).rejects.toThrow('did not say');
  });
});
