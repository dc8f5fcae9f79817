import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { gateRig } from '../../../test/support/gate-rig.js';
import { makeTempProject, type TempProject } from '../../testing/temp-project.js';

let project: TempProject;
beforeAll(() => {
  const files = { '.git/config': '', '.git/hooks/x': '', '.git/HEAD': 'ref: refs/heads/main' };
  project = makeTempProject({ files: { ...files, x: 'x', a: 'a', 'd/e': '' } });
});
afterAll(() => project.remove());

/** Each writes below `.git`, by an operand or by an option of its own. */
const WRITES = [
  "sed -i'.git/*' s/x/y/ a",
  "perl -pi'.git/hooks/*' -e s/x/y/ a",
  'curl -T a file://ROOT/.git/config',
  'tar -xf a.tar .git/config',
  'tar xf a.tar -C .git',
  'tar xfC a.tar .git',
  'tar --extract --file a --directory=.git',
  'bsdtar -xf a -C .git',
  'tar -cf .git/config x',
  'tar cf .git/config x',
  'tar --create --file=.git/config x',
  'zip -m x.zip .git/config',
  'zip .git/hooks/x a',
  'install -m755 x .git/hooks/pre-commit',
  'install -Dt .git/hooks x',
  'install x -t.git/hooks',
  'cp x --target-directory=.git/hooks',
  'cp x --target=.git/hooks',
  'cp -t.git/hooks x',
  'cp --weird x .git/config',
  'mv -t .git/hooks x',
  'mv x .git/config',
  'ln -sf x .git/hooks/y',
  'rsync x .git/hooks/',
  'rsync -a d/ .git',
  'scp host:x .git/config',
  'rclone copy a: .git',
  'docker cp c:/x .git/config',
  'docker container cp c:/x .git/config',
  'docker -H h cp c:/x .git/config',
  'podman cp c:/x .git/hooks/',
  'kubectl cp pod:/x .git/config',
  'aws s3 cp s3://b/x .git/config',
  's3cmd get s3://b/x .git/config',
  'gcloud storage cp gs://b/x .git/config',
  'dd of=.git/config if=x',
  '7z x a.7z -o.git',
  '7z e a .git/config',
  'unzip a.zip -d .git',
  'unzip -o a .git/config',
  'curl -o .git/config u',
  'curl -so.git/config u',
  'curl --output .git/config u',
  'wget -O.git/config u',
  'wget -P .git/hooks u',
  'ssh-keygen -f .git/hooks/x',
  'ctags -f .git/hooks/x',
  'csplit -f .git/x a 1',
  'split a .git/x',
  'sort -o .git/config x',
  'sort --output=.git/config x',
  'zstd x -o .git/config',
  'gzip .git/config',
  'unzstd .git/config.zst',
  'sed -i s/a/b/ .git/config',
  'sed --in-place s/a/b/ .git/config',
  'gsed -i s/a/b/ .git/config',
  'sed -n w.git/config x',
  'perl -pi -e 1 .git/config',
  'gawk -i inplace 1 .git/config',
  'history -w .git/config',
  'find .git -delete',
  'find . -fprint .git/config',
  'find .git -exec rm {} +',
  'vim .git/config',
  'tee .git/config',
  'uniq x .git/config',
  'xxd -r x .git/config',
  'chmod -R +x .git',
  'truncate -s0 .git/config',
  'gofmt -w .git/config',
  'prettier --write .git/config',
  'mkfifo .git/config',
  'cpio -i .git/config',
  'TEE .git/config',
  '/bin/tee .git/config',
  'jar xf a .git/config',
];

describe('a file that a program is told to write', () => {
  it.each(WRITES)('is asked about where it is protected: %s', async (command) => {
    const { directory: cwd, home } = project;
    const rig = gateRig({ cwd, home, mode: 'bypassPermissions' });
    expect(await rig.bash(command.replace('ROOT', cwd))).not.toBe('runs');
  });

  it.each(WRITES)('is held to rules for its path: %s', async (command) => {
    const { directory: cwd, home } = project;
    const rig = gateRig({ cwd, home, allow: ['Bash'], deny: ['Edit(.git/**)'] });
    expect(await rig.bash(command.replace('ROOT', cwd))).not.toBe('runs');
  });
});
