import { execFileSync } from 'node:child_process';
import { symlinkSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { gateRig } from '../../../test/support/gate-rig.js';
import { makeTempProject, type TempProject } from '../../testing/temp-project.js';

let project: TempProject;

const git = (...args: string[]): void => {
  const who = ['-c', 'user.name=t', '-c', 'user.email=t@example.invalid'];
  execFileSync('git', [...who, ...args], { cwd: project.directory, stdio: 'ignore' });
};

beforeAll(() => {
  project = makeTempProject({
    files: { '.env': 'e', 'data/b.txt': 'b', 'a.txt': 'a', 'real/key.pem': 'k' },
  });
  git('init', '-q');
  git('add', '.');
  git('commit', '-qm', 'x');
  // Made afterwards, so that git does not keep the link itself.
  symlinkSync('real', project.at('keys'));
});
afterAll(() => project.remove());

function rig(deny: readonly string[]) {
  const { directory: cwd, home } = project;
  return gateRig({ cwd, home, allow: ['Bash'], deny, facts: { exported: () => new Set() } });
}

describe('a path that may be the value of an option leaves nothing out', () => {
  it.each([
    'git format-patch HEAD~2 -o data',
    'git format-patch --stdout --to data HEAD~2',
    'git format-patch --stdout --cc data HEAD~2',
    'git format-patch --stdout --signature-file a.txt HEAD~2',
    'git log -p --all --exclude data',
    'git log -p --glob data --all',
    'git log -p -I data',
    'git grep --unlisted e data',
    'git archive --unlisted data HEAD',
    'git request-pull -p HEAD~1 . HEAD',
  ])('%s', async (command) => {
    expect(await rig(['Read(.env)']).bash(command)).not.toBe('runs');
  });

  it.each([
    'git log -p data',
    'git log -p --unlisted -- data',
    'git format-patch -1 -- data',
    'git archive -9 HEAD data',
    'git request-pull HEAD~1 . HEAD',
  ])('and where it is a path it does: %s', async (command) => {
    expect(await rig(['Read(.env)']).bash(command)).toBe('runs');
  });
});

describe('a repository without a working tree', () => {
  it.each(['cd .git && git show HEAD', 'git -C .git show HEAD', 'cd .git/objects; git log -p'])(
    'has no files that leave others out: %s',
    async (command) => {
      expect(await rig(['Read(.env)']).bash(command)).not.toBe('runs');
    },
  );
});

describe('what git keeps at the real place of a link', () => {
  it.each(['git show HEAD', "git log -p -- 'r*'", "git grep k -- '*.pem'", 'git archive HEAD'])(
    'is what the link names: %s',
    async (command) => {
      expect(await rig(['Read(keys/**)']).bash(command)).toBe('denied');
    },
  );

  it('and nothing else', async () => {
    expect(await rig(['Read(keys/**)']).bash('git log -p -- data')).toBe('runs');
  });
});

describe('code that git is told to run', () => {
  it.each([
    "git rebase -ix 'cat .env' HEAD~1",
    "git rebase -i --exec 'cat .e*' HEAD~1",
    "git difftool -yx 'cat .env' HEAD~1",
    "git clone --upload-p='cat .env' . x",
    "git grep -lO'cat .env' x",
  ])('is read in a bundle of letters and behind a shortened option: %s', async (command) => {
    expect(await rig(['Read(.env)']).bash(command)).not.toBe('runs');
  });
});
