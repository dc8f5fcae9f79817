import { afterEach, expect, it } from 'vitest';
import { nodeFileSystem as fs } from '../../platform/fs/node-fs.js';
import { makeTempProject, type TempProject } from '../../testing/temp-project.js';
import { protectedInGit } from './places.js';

let project: TempProject | undefined;
afterEach(() => project?.remove());

it.each([
  '[core]\n\thooksPath = x\n',
  '[core] hooksPath = x\n',
  '[CORE]HOOKSPATH=x#why\n',
  '[user]\n\tname = y\\\\\n[core] hooksPath = "x"\n',
])('hooks that a configuration names are kept, however it is written: %j', async (config) => {
  project = makeTempProject({
    files: { '.git/HEAD': 'ref: refs/heads/main\n', '.git/config': config },
  });
  expect(await protectedInGit(project.at('.git'), fs)).toContain(project.at('x'));
});

it('a configuration that git does not understand refuses the sandbox', async () => {
  project = makeTempProject({
    files: { '.git/HEAD': 'ref: x\n', '.git/config': '[core\nhooksPath = x' },
  });
  await expect(protectedInGit(project.at('.git'), fs)).rejects.toThrow('cannot be read');
});

it('submodules that lie deeper than is looked refuse the sandbox', async () => {
  const deep = (levels: number): string => Array.from({ length: levels }, () => 'd').join('/');
  project = makeTempProject({
    files: { '.git/HEAD': 'ref: x\n', [`.git/modules/${deep(12)}/HEAD`]: 'ref: x\n' },
  });
  const found = await protectedInGit(project.at('.git'), fs);
  expect(found).toContain(project.at(`.git/modules/${deep(12)}/hooks`));
  project.write(`.git/modules/${deep(40)}/HEAD`, 'ref: x\n');
  project.write(`.git/modules/x/${deep(40)}/HEAD`, 'ref: x\n');
  await expect(protectedInGit(project.at('.git'), fs)).rejects.toThrow('too deep');
});
