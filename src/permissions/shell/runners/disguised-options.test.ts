// biome-ignore-all lint/suspicious/noTemplateCurlyInString: the strings are shell code
import { appendFileSync, symlinkSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { gateRig } from '../../../../test/support/gate-rig.js';
import { nodeFileSystem } from '../../../platform/fs/node-fs.js';
import type { PermissionMode } from '../../../protocol/permissions.js';
import { makeTempProject, type TempProject } from '../../../testing/temp-project.js';
import { repositoryTrap } from '../../git/config.js';

let project: TempProject;
beforeAll(() => {
  project = makeTempProject({
    files: { 'a.txt': 'a', 'src/x.ts': 'x', '.env': 'S=1', config: 'c', 'docs/y': 'y' },
  });
  symlinkSync('/etc/passwd', `${project.directory}/link`);
  symlinkSync('../.npmrc', `${project.directory}/docs/config`);
});
afterAll(() => project.remove());

interface Settings {
  readonly allow?: readonly string[];
  readonly deny?: readonly string[];
  readonly mode?: PermissionMode;
}

function asks(name: string, settings: Settings, commands: readonly string[]): void {
  it.each(commands)(`${name}: %s`, async (command) => {
    const rig = gateRig({ cwd: project.directory, home: project.home, ...settings });
    expect(await rig.bash(command)).not.toBe('runs');
  });
}

describe('options and formats that do more than they seem to', () => {
  asks('is not only looking', {}, [
    'od -c -w /etc/passwd',
    'git diff -U --output=x',
    'git diff -U /etc/passwd a.txt',
    'git diff --unified --output=x',
    'git log --format --output=x',
    'git blame -C --contents=/etc/passwd a.txt',
    'git log -S --quiet -S --output=x',
    'git show -G --source --grep --output=x',
    'git stash show --grep 0 -S --output=x',
    'git stash -m show',
    'git stash -am list',
    "printf '%n' PATH; ls",
    "echo 'import os' | python3 -v",
    'jq -R . -- --arg /etc/passwd x',
    'jq -R --indent --arg . /etc/passwd 7 .',
    "jq -n '$ ENV'",
    'cat l[[:alpha:]]nk',
    'cat l[[=i=]]nk',
  ]);
  asks('is not covered by a prefix', { allow: ['Bash(git log *)', 'Bash(node --test *)'] }, [
    'git log --ext',
    'git log -U --output=x',
    'node --test --test-reporter=./x.mjs',
    'node --test --test-global-setup=./x.mjs',
    'node --test --cpu-prof-dir=/etc',
  ]);
  asks('names a banned program', { allow: ['Bash'], deny: ['Bash(rm *)'] }, [
    "GIT_EXTERNAL_DIFF='rm x' git diff",
    "PAGER='rm x' man ls",
    "git -c core.pager='rm x' log",
    "git config core.pager 'rm x'",
    "git rebase -x'rm x' HEAD~1",
    "tar cf x --checkpoint=1 --checkpoint-action=exec='rm x' f",
    "ssh -o 'ProxyCommand rm x' h",
    "bash /dev/stdin <<< 'rm x'",
    "bash /dev/./stdin <<< 'rm x'",
    "bash //dev//stdin <<< 'rm x'",
    "bash ../../dev/stdin <<< 'rm x'",
    "bash /proc/thread-self/fd/0 <<< 'rm x'",
    "cd /dev/fd && bash 0 <<< 'rm x'",
    "test -v 'a[$(rm x)]'",
    "mapfile -C 'rm x #' -c 1 a < a.txt",
    "env -S'rm x'",
    "csh -c 'rm x'",
    'torsocks rm x',
    'alias z=rm; z x',
  ]);
  asks('writes what is banned', { allow: ['Bash'], deny: ['Edit(./src/**)'] }, [
    'curl -osrc/a x',
    'uniq a.txt src/a',
    'xxd -r a.txt src/a',
    "sed 'w src/a' a.txt",
    'find . -fprint src/a',
    'prettier --write src/a',
    'tar cf src/a a.txt',
  ]);
  asks('reads what is banned', { allow: ['Bash'], deny: ['Read(~/.k/**)'] }, ['dd if=~/.k/x']);
  asks('writes through a link', { mode: 'acceptEdits' }, [
    'cp config docs',
    'sed -ie /tmp/p -e s/a/b/ a.txt',
  ]);
});

it('does not take the line behind a comment for a part of it', async () => {
  const repository = makeTempProject({ files: { 'a.txt': 'a' }, git: true });
  appendFileSync(repository.at('.git/config'), '[core]\n# \\\n\tfsmonitor = touch x\n');
  expect(await repositoryTrap(nodeFileSystem, repository.directory)).toBeDefined();
  repository.remove();
});
