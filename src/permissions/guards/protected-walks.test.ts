import { symlinkSync } from 'node:fs';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { gateRig, type RigOptions } from '../../../test/support/gate-rig.js';
import { makeTempProject, type TempProject } from '../../testing/temp-project.js';

let project: TempProject;
beforeAll(() => {
  project = makeTempProject({
    files: {
      'a.txt': 'a',
      'src/x.ts': 'foo',
      'src/y.js': 'y',
      'build/o.pyc': 'o',
      'build/deep/p.pyc': 'p',
      '.git/HEAD': 'ref: refs/heads/main',
      '.git/config': '[core]',
      '.git/hooks/pre-commit.sample': '#!/bin/sh',
      '.claude/settings.json': '{}',
      'nested/.git/config': '[core]',
      'nested/lib/z.ts': 'z',
      'node_modules/m/.envrc': 'x',
      'odd/a .git/b.log': 'x',
    },
  });
  symlinkSync('../.git/config', path.join(project.directory, 'src/linked.cfg'));
});
afterAll(() => project.remove());

const rig = (more: Partial<RigOptions> = {}) =>
  gateRig({ cwd: project.directory, home: project.home, allow: ['Bash'], ...more });

describe('a walk that meets protected paths and changes them', () => {
  it.each([
    'find . -delete',
    'find -delete',
    'find . -name config -delete',
    'find . -name config -exec rm {} +',
    'find . -name config -exec sudo rm {} +',
    'find . -name config -execdir rm {} \\;',
    'find . -name HEAD -execdir rm config \\;',
    'find . -name config -ok rm {} \\;',
    'find . -name config -okdir rm {} \\;',
    'find . -type f -exec sed -i s/a/b/ {} +',
    'find . -type f -exec mv {} {}.bak \\;',
    'find . -exec chmod 777 {} \\;',
    'find . -maxdepth 0 -exec chmod -R 777 {} \\;',
    'find . -type f -exec sh -c \'rm "$1"\' _ {} \\;',
    "find . -type f -exec sh -c 'echo x > {}' \\;",
    "find . -type f -exec perl -e 'unlink @ARGV' {} +",
    'find . -type d -empty -delete',
    'find . -type f -exec mytool {} +',
    'find . -type f | xargs mytool',
    'find nested -delete',
    'find src/.. -name config -delete',
    'cd nested && find . -delete',
    'find "$D" -delete',
    "X='. -name config -o'; find $X -name nothing -delete",
    "find . -name '*.cfg' -exec truncate -s 0 {} \\;",
    'find -L src -name linked.cfg -exec truncate -s 0 {} \\;',
    // With -delete the content of a directory comes first: nothing is left out.
    "find . -name .git -prune -o -name 'config' -delete",
    'find . -not -path ./.git/hooks -name config -delete',
    "find . -iname 'CONF*' -delete",
    'find . -name config | xargs rm',
    'find . -name config -print0 | xargs -0 rm',
    'find . -name config | while read f; do rm "$f"; done',
    'for f in $(find . -name config); do rm $f; done',
    'find . -name config | parallel rm',
    "find . -name config | perl -ne 'chomp; unlink'",
    'find . -name config -exec echo {} \\; | xargs rm',
    'find . -name config | sh',
    'find odd -name "*.log" | xargs rm',
    'find . -name config | xargs sh -c \'rm "$@"\' _',
    'find . -name config > list; xargs rm < list',
    'find . -name config | xargs -I{} dd if=a.txt of={}',
    'find . -name config | xargs git config -f',
    'X=find; $X . -delete',
    "A='-o -delete'; find . -name '*.pyc' $A",
    'rm $(find odd -name "*.log")',
    'fd -H config -x rm',
    'fd -H config | xargs rm',
    'ls -a | xargs rm -rf',
    'grep -rl core . | xargs sed -i s/core/x/',
    'chmod -R 777 .',
    'chown -R me .',
    'cp -r nested/. .',
    'cp -r nested/.g* .',
    'cp -r node_modules/m/. .',
    `python3 -c "import pathlib; [p.unlink() for p in pathlib.Path('.').rglob('config')]"`,
  ])('is asked about: %s', async (command) => {
    expect(await rig().bash(command)).toBe('asks');
    expect(await rig({ mode: 'bypassPermissions' }).bash(command)).toBe('asks');
    expect(await rig({ mode: 'acceptEdits' }).bash(command)).toBe('asks');
  });

  it.each([
    "find . -name '*.ts' -type f",
    'find . -name config',
    'find . -type f -exec grep -l foo {} +',
    'find . -type f -exec wc -l {} +',
    'find . -type f -exec sh -c \'wc -l "$1"\' _ {} \\;',
    'find . -name config | xargs cat',
    "find . -name '*.ts' | xargs grep foo",
    'find build -delete',
    'find build -type f -exec rm {} +',
    "find . -name '*.pyc' -delete",
    "find . -name '*.pyc' | xargs rm",
    "find . -name '*.ts' -exec sed -i s/a/b/ {} +",
    'find . -type d -name __pycache__ -exec rm -rf {} +',
    'find . -name node_modules -type d -prune -exec rm -rf {} +',
    'find node_modules -delete',
    'find . -maxdepth 1 -type f -delete',
    "find . -type f -not -path '*/.git/*' -not -path '*/.claude/*' -name 'conf*' -exec rm {} +",
    "find . \\( -name .git -o -name .claude \\) -prune -o -name 'conf*' -print | xargs rm",
    'find "$D" -name "*.pyc" -delete',
    "find src -name '*.js' -exec cp {} build/ \\;",
    'find odd -name "*.log" -delete',
    'find odd -name "*.log"',
    'fd config -x rm',
    'grep -rl foo . | xargs sed -i s/foo/bar/',
    'chmod -R u+w build',
    'cp -r src build',
    'cp -r nested elsewhere',
    'rm -rf build',
    'find . -type f | xargs grep foo > "$OUT"',
    'grep -r core . > "out-$(date).txt"',
    'cp -r . "$BACKUP/$(date +%F)"',
    'find . -type f > "$LIST"; rm -f "$OLD"',
    'find . -type f -newer a.txt | wc -l',
    "find . -type f | awk '{print length($0)}'",
    'for d in $(ls); do echo $d; done',
    "D=src; find $D -name '*.ts' | wc -l",
    'D=src; find $D -type f -exec wc -l {} +',
    'D=$(mktemp -d); find $D -type f',
    'source env.sh && find . -type f | wc -l',
    '. venv/bin/activate; find . -type f -exec grep -l foo {} +',
    'find . -type f | xargs grep foo | head',
    'find . -type f | sed \'s,^./,,\' | sort > "$OUT"',
    `python3 -c "import pathlib; [p.unlink() for p in pathlib.Path('.').rglob('*.pyc')]"`,
  ])('is no reason to ask where it meets none: %s', async (command) => {
    expect(await rig().bash(command)).toBe('runs');
  });

  it('is asked about where there is more than can be looked at', async () => {
    const { nodeFileSystem } = await import('../../platform/fs/node-fs.js');
    const many = Array.from({ length: 500_001 }, (_, at) => ({
      name: `f${at}`,
      kind: 'file' as const,
    }));
    const fs = {
      ...nodeFileSystem,
      list: async (directory: string) =>
        directory.endsWith('/build') ? many : await nodeFileSystem.list(directory),
    };
    expect(await rig({ fs }).bash("find build -name '*.pyc' -delete")).toBe('asks');
  });

  it('is asked about where nobody can look at its start', async () => {
    const { nodeFileSystem } = await import('../../platform/fs/node-fs.js');
    const fs = {
      ...nodeFileSystem,
      async list(path: string) {
        if (path.endsWith('/build')) throw Object.assign(new Error('EIO'), { code: 'EIO' });
        return await nodeFileSystem.list(path);
      },
    };
    expect(await rig({ fs }).bash("find build -name '*.pyc' -delete")).toBe('asks');
  });

  it('names what it met', async () => {
    const verdict = await rig().call('Bash', { command: 'find . -name config -delete' });
    expect(verdict).toMatchObject({ kind: 'refused' });
    expect(JSON.stringify(verdict)).toContain('.git/config');
  });
});
