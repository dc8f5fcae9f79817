import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { gateRig, type Rig } from '../../../../test/support/gate-rig.js';
import { nodeFileSystem } from '../../../platform/fs/node-fs.js';
import { workspaceFence } from './fence.js';

let base = '';
let linked: Rig;
let plain: Rig;

beforeAll(() => {
  base = realpathSync(mkdtempSync(join(tmpdir(), 'walked-')));
  const main = join(base, 'proj');
  const home = join(base, 'home');
  mkdirSync(home);
  const rig = (name: string): Rig => {
    const tree = join(main, '.claude/worktrees', name);
    mkdirSync(join(tree, 'src/deep'), { recursive: true });
    for (const file of ['a.txt', 'src/b.ts', 'src/deep/c.ts']) writeFileSync(join(tree, file), 'x');
    symlinkSync('../b.ts', join(tree, 'src/deep/inner'));
    symlinkSync(join(main, 'shared'), join(tree, 'shared'));
    return gateRig({
      cwd: tree,
      home,
      roots: [tree],
      mode: 'bypassPermissions',
      agent: {
        id: 'a1',
        type: 'worker',
        path: 'main/worker#1',
        parentId: 'main',
        depth: 1,
        background: false,
        workspace: tree,
        isolation: 'worktree',
      },
      guards: [
        workspaceFence({
          fs: nodeFileSystem,
          projectDir: main,
          shared: () => [join(main, 'shared')],
        }),
      ],
    });
  };
  linked = rig('agent-1');
  plain = rig('agent-2');
  mkdirSync(join(main, 'shared'));
  writeFileSync(join(main, 'secret.txt'), 'x');
  symlinkSync(join(main, 'secret.txt'), join(main, '.claude/worktrees/agent-1/src/deep/leaf'));
});
afterAll(() => rmSync(base, { recursive: true, force: true }));

const fate = async (rig: Rig, command: string): Promise<string> => {
  const verdict = await rig.call('Bash', { command });
  if (verdict.kind === 'allowed') return 'runs';
  const fence = verdict.receipt.trace.find(({ guard }) => guard === 'workspace fence');
  return fence?.decision === 'deny' && fence.failure === undefined ? 'denied' : verdict.message;
};

describe('where a link below leads to the main checkout', () => {
  it.each([
    'find . -type l -exec cat {} \\;',
    'find . -type d -exec cat {}/leaf \\;',
    'find . -type f -exec cat {}/../leaf \\;',
    'find . ! -type f -exec cat {} \\;',
    'find . -not -type f -exec cat {} \\;',
    'find . -xtype f -exec cat {} \\;',
    'find . -exec cat {} +',
    'find . -exec env cat {} +',
    'find . -execdir cat {} \\;',
    'find . -name "le*" -exec cat {} +',
    'find . -name "*.ts" -o -exec cat {} +',
    'find . -type f -o -exec cat {} +',
    'find . -exec cat {} + -type f',
    'find . -type d -exec grep -R x {} +',
    'find src -type l | xargs cat',
    'find . -type l | sort | xargs cat',
    'find . -print0 | xargs -0 cat',
    'find . | grep leaf | xargs cat',
    'find . | grep -v ts | xargs cat',
    'timeout 5 find . -type l -exec cat {} \\;',
    'cd src/deep && ls | xargs cat',
    'ls src/deep | (cd src/deep; xargs cat)',
    'echo src/deep/* | xargs cat',
    'git ls-files | xargs cat',
    'fd . | xargs cat',
    'fd -x cat {}',
    'fd -t d -x cat {}/leaf',
    'fd -t f -x cat {//}/leaf',
    "find . -type d -exec sh -c 'cat {}/leaf' \\;",
    'tar ch .',
    'tar chf x.tar .',
    'tar -chf x.tar -C src deep',
    'tar cf - --dereference src',
    'cp -rL . x',
    'cp -rL src x',
    'rsync -aL . x',
    'rsync -a --copy-links src/ x',
    'zip -r x .',
    'zip -r x src',
    '7z a x.7z src',
    'rg --files -L',
    'rg -L x',
    'grep -R x .',
    'find . -type l | tar cf x.tar -T -',
    'find . -type l | cpio -oL',
  ])('it is not handed on: %s', async (command) => {
    expect(await fate(linked, command)).toBe('denied');
  });

  it.each([
    'find . -type f -exec cat {} +',
    'find . -type f -name "*.ts" | xargs grep -n x',
    'find . -name "*.ts" -exec grep -n x {} +',
    'find . -name "*.ts" | xargs wc -l',
    'find . -type d -exec ls -d {} +',
    'find . | head',
    'ls | xargs wc -l',
    'grep -rl x . | xargs cat',
    'rg -l x | xargs cat',
    'rg --files',
    'tar cf x.tar .',
    'cp -r src y',
    'rsync -a src y',
    'zip -ry x .',
  ])('other names are: %s', async (command) => {
    expect(await fate(linked, command)).toBe('runs');
  });
});

describe('where no link leads to the main checkout', () => {
  it.each([
    'find . -exec cat {} +',
    'find . -type l -exec cat {} \\;',
    'find . -name "*.ts" | xargs wc -l',
    'git ls-files | xargs wc -l',
    'fd -e ts -x wc -l {}',
    'ls | xargs cat',
    'tar chf x.tar .',
    'cp -rL src x',
    'zip -r x src',
    'rg --files -L',
  ])('names are handed on: %s', async (command) => {
    expect(await fate(plain, command)).toBe('runs');
  });
});
