import { execFileSync } from 'node:child_process';
import { mkdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import path from 'node:path';
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
    files: {
      'src/a.ts': 'a',
      'src/deep/b.ts': 'b',
      'docs/d.md': 'd',
      'lib/c.ts': 'c',
      'tracked/locked/file': 'l',
      'tracked/conf.key': 'k',
      '.gitignore': '.env\nsecrets/\ndist/\n',
      '.env': 'e',
      'secrets/key': 'k',
      'protected/x/f': 'x',
      'dist/out.js': 'o',
      'node_modules/m/test/t.pem': 'p',
      'q/protected/x/new': 'n',
      'q/other/n': 'n',
      'sub/nested/.env': 'e',
      'empty-of-secrets/y': 'y',
    },
  });
  git('init', '-q');
  git('add', 'src', 'docs', 'lib', 'tracked', '.gitignore');
  git('commit', '-qm', 'x');
  mkdirSync(project.at('linked'), { recursive: true });
  symlinkSync(project.at('secrets'), project.at('linked/s'));
  // Older than the index that lists it, so that it counts as what git has.
  execFileSync('git', ['update-index', '--refresh'], { cwd: project.directory });
});
afterAll(() => project.remove());

const DENY = [
  'Read(./secrets/**)',
  'Read(.env)',
  'Read(*.pem)',
  'Edit(./protected/x/**)',
  'Read(tracked/conf.key)',
  'Edit(./tracked/locked/**)',
];

function rig(lists: { deny?: readonly string[]; ask?: readonly string[] } = { deny: DENY }) {
  const { directory: cwd, home } = project;
  return gateRig({ cwd, home, allow: ['Bash'], facts: { exported: () => new Set() }, ...lists });
}

const REFUSED = [
  // Paths choose revisions only.
  'git log -p --full-diff -- src',
  'git show --full-diff HEAD -- src',
  // An option that takes a value only when that is attached.
  'git show -X -p HEAD',
  'git log -X -p',
  // Patterns, and paths from the top, without a `--`.
  "git log -p lib 'trac*'",
  'git diff HEAD lib :/tracked',
  "git show HEAD -- ':/:tracked'",
  // What is taken back does not count.
  'git rm -n --no-dry-run -rf tracked',
  'git clean -n --no-dry-run -fdx',
  'git clean -fdx -e .env/',
  'chmod -R -x protected',
  'chmod -x -R protected',
  'diff -rh . /tmp',
  'tar --remove-files -cf /tmp/x.tar protected',
  'zip -rm /tmp/x.zip protected',
  'find protected -delete -name zzz',
  'cp -r q/protected/.. .',
  'rsync -a --exclude=.env/ --exclude=secrets --exclude=conf.key . /tmp/elsewhere',
  "rg -uu -g '!.env/' -g '!secrets' -g '!conf.key' k",
  "rg -uu -g '!.env/**' -g '!secrets' -g '!conf.key' k",
  'git rm --cached --no-cached tracked/conf.key',
  'gzip -r .',
  'gzip -rk sub',
  'gunzip -r protected',
  'zstd -r sub',
  'zstd --rm -r protected',
  'pigz -r .',
  'rclone copy . remote:x',
  'rclone move protected remote:x',
  'rclone sync /tmp/elsewhere protected',
  'aws s3 sync . s3://bucket',
  'gsutil -m cp -r secrets gs://bucket',
  'docker cp . box:/x',
  'kubectl cp sub pod:/x',
  'restic -r /tmp/r backup .',
  'grep -r k .',
  'grep -r k',
  'grep -R k',
  'grep --recursive k',
  'grep --recurs k',
  'grep -d recurse k .',
  'grep --directories=recurse k .',
  'grep --dir rec k .',
  'grep -nrI k ./',
  'grep -r k .//.',
  'grep -r -e k',
  'grep -rek',
  'egrep -ir k .',
  'rgrep k',
  'zgrep -r k .',
  'GREP_OPTIONS=-r grep k .',
  '/usr/bin/grep -r k .',
  'cd secrets && grep -r k',
  'cd sub; grep -r k nested',
  '(cd sub && grep -r k)',
  'bash -c "grep -r k ."',
  'env X=1 grep -r k .',
  'env -C sub grep -r k',
  'echo $(grep -r k .)',
  'grep -r k s*',
  'grep -r k src sub',
  'grep -r --include=* k',
  'grep -r --exclude=*.ts k',
  'grep -r --exclude-dir=secrets k .',
  'grep -R k linked',
  'rg --hidden k',
  'rg -uu k',
  'rg -u -u k',
  'rg -. k',
  'rg -uuu k sub',
  'rg --no-ignore k',
  "rg -g '.env' k",
  "rg --iglob '.ENV' k",
  'rg -L k linked',
  'ag --hidden k',
  'ack k',
  'tar cf x.tar .',
  'tar -cf x.tar .',
  'tar czvf /tmp/x.tgz secrets src',
  'tar --create --file=x.tar sub',
  'tar cf x.tar . --exclude=.env --exclude=secrets',
  'tar -C secrets -cf x.tar key',
  'tar -C sub -cf x.tar nested',
  'zip -r x.zip .',
  'zip -qr9 x.zip sub',
  '7z a x.7z sub',
  'cp -r . /tmp/elsewhere',
  'cp -a sub /tmp/elsewhere',
  'cp --recursive sub /tmp/elsewhere',
  'cp -rt /tmp/elsewhere sub',
  'cp -r q/. .',
  'cp -r q/protected .',
  'cp -R q/protected .',
  'rsync -a . /tmp/elsewhere',
  'rsync -r sub/ host:x',
  'scp -r sub host:x',
  'scp -r linked host:x',
  'rm -rf protected',
  'rm -r protected/',
  'rm --recursive --force protected',
  'rm -rf p*',
  'mv protected r',
  'mv sub r',
  'chmod -R u+x protected',
  'chown -R me protected',
  'find . -delete',
  'find protected -type f -delete',
  'diff -r . /tmp',
  'diff sub/nested /tmp',
  'git show HEAD:tracked/conf.key',
  'git show HEAD:.env',
  'git show :tracked/conf.key',
  'git show :0:.env',
  'git show "$REV:tracked/conf.key"',
  'git show "HEAD@{10:30}:tracked/conf.key"',
  'git show :/x',
  'git cat-file -p HEAD:.env',
  'git cat-file blob HEAD:secrets/key',
  'cd src && git show HEAD:.env',
  'cd src && git show HEAD:../tracked/conf.key',
  'git -C src show HEAD:tracked/conf.key',
  'git --no-pager show HEAD:.env',
  'git show',
  'git show HEAD',
  'git show HEAD -- tracked',
  "git show HEAD -- '*.key'",
  'git log -p',
  'git log -p -1 -- tracked',
  'git log --patch',
  'git log -U3',
  'git diff HEAD~1',
  'git diff --cached',
  'git archive HEAD',
  'git archive HEAD tracked',
  'git archive HEAD:tracked',
  'git grep k',
  'git grep k tracked',
  'git grep -e k -- tracked',
  'git grep --no-index k',
  'git grep --untracked --no-exclude-standard k sub',
  'git stash show -p',
  'git stash list -p',
  'git diff --no-index /tmp sub',
  'git format-patch -1',
  'git status -v',
  'git rm -r tracked',
  'git clean -fdx',
  'git clean -fdX',
  'git clean -f -d protected',
  'git checkout HEAD -- .',
  'git restore --source=HEAD .',
  'git mv protected r',
] as const;

const ASKED = [
  'sort --files0-from=names',
  'curl -K- <<< url=x',
  'curl -sKlist',
  'curl --config list',
  'pushd src; grep -r k',
  'grep -r k "$DIR"',
  'CDPATH=/tmp cd src && grep -r k',
  'cd -P linked/s/.. && grep -r k',
  'find . -name "*.ts" | xargs grep k',
  'find . | cpio -o',
  'tar cf x.tar -T list',
  "zip -r x.zip . -x '*.log'",
  "find . -path './x' -o -delete",
  'find . -not -name a -exec prettier --write {} +',
  'fd -H . -x prettier',
  "rclone copy . remote: --exclude '*.log'",
  'git --git-dir=/tmp/x/.git show HEAD:a',
  'GIT_DIR=/tmp/x/.git git log -p',
] as const;

const BENIGN = [
  "git grep import '*.ts'",
  'grep -r --exclude-dir=secrets/ --exclude=.env k docs src',
  'grep -r k src',
  'grep -rn k src lib docs',
  'grep k src/a.ts',
  'grep secrets src/a.ts',
  'grep -r secrets src',
  'cat src/a.ts | grep -eerror',
  'grep -r --include=*.ts k .',
  "grep -r --include='*.ts' --include='*.md' k",
  'grep -rn --exclude=.env --exclude-dir=secrets --exclude=conf.key k .',
  'grep -r k linked',
  'rg k src',
  'rg -t ts k',
  'rg -tpy k',
  "rg -g '*.ts' k",
  "rg -g '!conf.key' k",
  'ls | rg k',
  'rg --files',
  'rg --hidden k src',
  'tar cf x.tar src lib',
  'tar cf x.tar --exclude=.env --exclude=secrets --exclude=conf.key .',
  'tar tf x.tar',
  'zip -r x.zip src',
  'cp -r src /tmp/elsewhere',
  'cp -r q/other .',
  'cp -r src dist/',
  'rsync -a src/ /tmp/elsewhere/',
  'rsync -a --exclude=.env --exclude=secrets --exclude=conf.key . /tmp/elsewhere',
  'rm -rf dist',
  'rm -rf node_modules',
  'mv dist out',
  'chmod -R u+x src',
  'find . -name "*.pyc" -delete',
  'find . -name a -o -name b -delete',
  "find . -name m -prune -o '(' -name '*.ts' -o -iname '*.TSX' ')' -exec prettier --write {} +",
  'find . -exec echo {} +',
  'fd . -e ts -x prettier',
  'gzip -r src',
  'gzip .gitignore',
  'zstd -r src',
  'rclone sync src remote:x',
  'aws s3 sync dist s3://bucket',
  'docker cp src box:/x',
  'docker ps',
  'rsync -a --exclude=.env --exclude=secrets/ --exclude=conf.key . /tmp/elsewhere',
  "rg -uu -g '!.env' -g '!secrets/' -g '!conf.key' -g '!*.pem' k",
  'git rm --cached tracked/conf.key',
  'git rm -r --cached tracked/locked',
  'find . -name "*.ts"',
  'diff -r src lib',
  'ls -R',
  'du -sh .',
  'git status',
  'git log',
  'git log --oneline -5',
  'git log --stat',
  'git log -S k',
  'git diff',
  'git diff src',
  'git diff --stat HEAD~1',
  'git diff --name-only HEAD~1',
  'git diff HEAD~1 -- src',
  "git diff HEAD~1 -- . ':!tracked'",
  "git show HEAD -- . ':(exclude,top)tracked/conf.key'",
  "git diff HEAD~1 -- '*.ts'",
  'git show --stat',
  'git show HEAD:src/a.ts',
  'git show HEAD -- src',
  'git grep k src',
  'git grep --untracked k sub',
  "git grep k -- '*.ts'",
  'git archive HEAD src',
  'git stash',
  'git stash list',
  'git stash show',
  'git checkout .',
  'git checkout main',
  'git checkout -b new',
  'git restore .',
  'git restore --staged .',
  'git reset',
  'git reset --hard',
  'git clean -n',
  'git clean -fdx -e .env -e secrets -e x',
  'git clean -fd dist',
  'git add -A',
  'git commit -m "x"',
  'git rev-parse HEAD',
  'git ls-files',
  'git cat-file -t HEAD:src/a.ts',
  'git rm -r docs',
] as const;

describe('rules for paths and commands that go through directories', () => {
  it.each(REFUSED)('refuse %s', async (command) => {
    expect(await rig().bash(command)).toBe('denied');
  });

  it.each(ASKED)('ask about %s', async (command) => {
    expect(await rig().bash(command)).toBe('asks');
  });

  it.each(BENIGN)('leave %s alone', async (command) => {
    expect(await rig().bash(command)).toBe('runs');
  });

  it('ask where the rule asks', async () => {
    expect(await rig({ ask: ['Read(.env)'] }).bash('grep -r k .')).toBe('asks');
    expect(await rig({ ask: ['Read(.env)'] }).bash('grep -r k src')).toBe('runs');
  });

  it('change nothing where nothing is there that they are about', async () => {
    const deny = ['Read(./nothing/**)', 'Read(*.p12)', 'Edit(./gone)', 'Read(~/.ssh/**)'];
    for (const command of [...REFUSED.slice(0, 6), 'git show', 'git log -p', 'rm -rf protected']) {
      expect(await rig({ deny }).bash(command)).toBe('runs');
    }
  });

  it('do not take a rule about writing for one about reading', async () => {
    const deny = ['Edit(./secrets/**)', 'Edit(tracked/conf.key)'];
    expect(await rig({ deny }).bash('grep -r k .')).toBe('runs');
    expect(await rig({ deny }).bash('git show')).toBe('runs');
    expect(await rig({ deny }).bash('rm -rf secrets')).toBe('denied');
  });

  it('name the file, the rule and how to leave it out', async () => {
    const verdict = await rig({ deny: ['Read(./secrets/**)'] }).call('Bash', {
      command: 'grep -r k .',
    });
    expect(verdict.kind === 'refused' ? verdict.message : '').toMatch(
      /Read\(\.\/secrets\/\*\*\) .*settings\.json:1.*secrets\/key; leave it out with --exclude-dir=secrets/,
    );
  });

  it('do not take a directory called .git for a repository', async () => {
    for (const { files, seen } of [
      { files: [], seen: 'src' },
      { files: ['HEAD', 'objects/x', 'refs/x'], seen: 'lib' },
    ]) {
      mkdirSync(project.at(`${seen}/.git`));
      for (const file of files) {
        mkdirSync(path.dirname(project.at(`${seen}/.git/${file}`)), { recursive: true });
        writeFileSync(project.at(`${seen}/.git/${file}`), 'nothing');
      }
      expect(await rig().bash(`cd ${seen} && git show HEAD`)).toBe('denied');
      expect(await rig().bash(`git -C ${seen} log -p`)).toBe('denied');
      rmSync(project.at(`${seen}/.git`), { recursive: true });
    }
  });

  it('see what has been changed since git put it away', async () => {
    writeFileSync(project.at('tracked/conf.key'), 'changed');
    try {
      for (const command of ['git diff', 'git stash', 'git checkout .', 'git reset --hard']) {
        expect(await rig().bash(command)).toBe('denied');
      }
    } finally {
      git('checkout', '--', 'tracked/conf.key');
      git('update-index', '--refresh');
    }
  });
});
