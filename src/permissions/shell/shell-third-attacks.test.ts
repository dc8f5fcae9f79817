import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { gateRig, type RigOptions } from '../../../test/support/gate-rig.js';
import { makeTempProject, type TempProject } from '../../testing/temp-project.js';

let project: TempProject;
beforeAll(() => {
  project = makeTempProject({
    files: {
      'a.txt': 'a',
      'secret/key': 'k',
      '.git/HEAD': 'ref: refs/heads/main',
      '.git/config': '[core]',
      '.claude/settings.json': '{}',
      'nested/.git/config': '[core]',
      'build/o': 'o',
    },
  });
});
afterAll(() => project.remove());

const rig = (more: Partial<RigOptions> = {}) =>
  gateRig({ cwd: project.directory, home: project.home, allow: ['Bash'], ...more });

describe('a protected path that is written', () => {
  it.each([
    'cp a.txt .{git,x}/hooks/',
    'cp a.txt $(echo .git/hooks/x)',
    'cp a.txt `echo .git`/hooks/x',
    `cp a.txt \${X:-.git}/hooks/x`,
    `cp a.txt \${X:-.g}it/hooks/x`,
    'cd .g* && cp ../a.txt hooks/x',
    'cat a.txt > "$(git rev-parse --git-dir)/hooks/x"',
    'G=$(git rev-parse --git-common-dir); cp a.txt $G/hooks/x',
    'cp -s .git/config lnk && cp a.txt lnk',
    'cp -l .git/config lnk && cp a.txt lnk',
    'cd nested && cp --parents .git/config ..',
    "sed 1e'cp a.txt .git/hooks/x' a.txt",
    "sed 's/a/cp a.txt .git\\/hooks\\/x/e' a.txt",
    'sed -i s/a/b/ ./.*/config',
    'tar -c -f .git/hooks/x a.txt',
    'tar --create --file=.git/hooks/x a.txt',
    'tar --create --file .git/hooks/x a.txt',
    'tar cf x.tar a.txt -g .git/hooks/x',
    'tar cf x.tar a.txt --index-file=.git/hooks/x -v',
    'tar cf x.tar a.txt --listed-incremental=.git/hooks/x',
    'tar cf x.tar a.txt --volno-file=.git/hooks/x',
    'tar xf x.tar .git/hooks/x',
    'tar --cd=.git -xf x.tar',
    'tar xf x.tar --transform=s,^,.git/hooks/,',
    "tar xf x.tar --xform 's/^/.git\\/hooks\\//'",
    'tar xf x.tar -s ,^,.git/,',
    "tar -xf x.tar --to-command='cat > .git/hooks/x'",
    'tar cf x.tar --remove-files .git/config',
    'tar cf x.tar --remove-files .',
    "unzip x.zip '.git/*'",
    'cpio -id .git/config < x.cpio',
    'git --work-tree .git/hooks checkout HEAD -- a.txt',
    'git init --template=build',
    'git submodule add ./nested .git/x',
    'git fast-export --export-marks=.git/hooks/x HEAD',
    'git credential-store --file=.git/hooks/x store',
    'git merge-file .git/config a.txt a.txt',
    'git mailinfo .git/hooks/x .git/hooks/y',
    'git pack-objects .git/hooks/x',
    "git checkout HEAD -- '.claud*'",
    "git checkout HEAD -- ':(glob).cl*/**'",
    `php -r 'file_put_contents(".claude/settings.json","");'`,
  ])('is asked about: %s', async (command) => {
    expect(await rig().bash(command)).toBe('asks');
    expect(await rig({ mode: 'bypassPermissions' }).bash(command)).toBe('asks');
  });

  it.each([
    'tar czf x.tgz build',
    'tar xzf x.tgz -C build',
    'tar xf x.tar build/o',
    'tar tf x.tar',
    "tar xf x.tar --transform='s,^,build/,'",
    'tar cf x.tar --remove-files build',
    'cp -l a.txt b.txt',
    'cp --parents build/o out',
    'cp a.txt $(date +%F).txt',
    `cp a.txt \${OUT:-build}/x`,
    'git rev-parse --git-dir',
    'git init sub',
    'git checkout HEAD -- "src/*.ts"',
    'git submodule update --init',
    'git add "*.ts"',
    'unzip x.zip -d build',
    'sed -i s/a/b/ ./*.txt',
    'rm -f build/*',
  ])('is none where it is not: %s', async (command) => {
    expect(await rig().bash(command)).toBe('runs');
  });
});

describe('a file that a rule hides', () => {
  it.each([
    'cp -s ../secret/key build/k',
    'git -c mailmap.file=secret/key shortlog',
    'git -c core.excludesFile=secret/key status',
    'git -c commit.template=secret/key commit',
  ])('is not read: %s', async (command) => {
    expect(await rig({ deny: ['Read(./secret/**)'] }).bash(command)).not.toBe('runs');
    expect(await rig().bash(command)).toBe('runs');
  });
});
