import { execFileSync } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { nodeFileSystem } from '../../platform/fs/node-fs.js';
import { makeTempProject, type TempProject } from '../../testing/temp-project.js';
import { repositoryTrap } from './config.js';
import { gitlinksIn } from './index-file.js';

let project: TempProject;
const git = (...args: string[]): string =>
  execFileSync('git', ['-c', 'user.name=t', '-c', 'user.email=t@example.invalid', ...args], {
    cwd: project.directory,
    encoding: 'utf8',
  });

beforeAll(() => {
  project = makeTempProject({
    git: true,
    files: { 'a.txt': 'a', 'deep/er/b.txt': 'b', [`${'n'.repeat(60)}.txt`]: 'c' },
  });
  mkdirSync(project.at('inner/repo'), { recursive: true });
  execFileSync('git', ['init', '-q'], { cwd: project.at('inner/repo') });
  writeFileSync(project.at('inner/repo/x'), 'x');
  const inside = (...args: string[]) =>
    execFileSync('git', ['-c', 'user.name=t', '-c', 'user.email=t@example.invalid', ...args], {
      cwd: project.at('inner/repo'),
    });
  inside('add', '-A');
  inside('commit', '-qm', 'x');
});
afterAll(() => project.remove());

const index = () => readFileSync(path.join(project.directory, '.git/index'));
const trap = () => repositoryTrap(nodeFileSystem, project.directory);

describe('repositories inside a repository', () => {
  it('are found in every format of the index', async () => {
    expect(gitlinksIn(index())).toEqual([]);
    expect(await trap()).toBeUndefined();
    git('-c', 'advice.addEmbeddedRepo=false', 'add', 'inner/repo');
    for (const version of ['2', '3', '4']) {
      git('update-index', '--index-version', version);
      expect(gitlinksIn(index())).toEqual(['inner/repo']);
    }
  });

  it('are judged by their own configuration', async () => {
    expect(await trap()).toBeUndefined();
    execFileSync('git', ['config', 'core.fsmonitor', './evil'], { cwd: project.at('inner/repo') });
    expect(await trap()).toBe(
      'inner/repo: the configuration of the repository sets core.fsmonitor',
    );
  });

  it('are not followed through what cannot be read', () => {
    expect(gitlinksIn(index().subarray(0, 60))).toBeUndefined();
    expect(gitlinksIn(Buffer.from('nothing of the kind'))).toBeUndefined();
    expect(gitlinksIn(new Uint8Array())).toBeUndefined();
    git('update-index', '--split-index');
    expect(gitlinksIn(index())).toBeUndefined();
  });
});
