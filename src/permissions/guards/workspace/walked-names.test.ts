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
let leading: Rig;
let blank: Rig;

beforeAll(() => {
  base = realpathSync(mkdtempSync(join(tmpdir(), 'walked-')));
  const main = join(base, 'proj');
  const home = join(base, 'home');
  mkdirSync(home);
  const rig = (name: string): Rig => {
    const tree = join(main, '.claude/worktrees', name);
    mkdirSync(join(tree, 'src/deep'), { recursive: true });
    mkdirSync(join(tree, 'from'));
    writeFileSync(join(tree, 'from/home'), 'x');
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
  leading = rig('agent-3');
  symlinkSync(home, join(main, '.claude/worktrees/agent-3/src/deep/home'));
  blank = rig('agent-4');
  mkdirSync(join(main, '.claude/worktrees/agent-4/src/x ..'));
  writeFileSync(join(main, '.claude/worktrees/agent-4/src/x ../y'), 'x');
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
    'ls -RL',
    'ls -LR src',
    'ls --recursive --dereference src',
    'ls --rec --deref src',
    'tree -l',
    'tree -al src',
    'du -L .',
    'du -aL src',
    'fd -L x',
    'grep -r --an-option-of-tomorrow x .',
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
    'ls -R',
    'tree',
    'tree -L 2',
    'du -sh .',
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
    'ls -RL',
    'tree -l',
    'du -L',
  ])('names are handed on: %s', async (command) => {
    expect(await fate(plain, command)).toBe('runs');
  });
});

describe('where a link below leads out of everything', () => {
  it.each(['chown -RL me src', 'chgrp -R -L me src', 'chmod -RL 777 src'])(
    'nothing is changed there: %s',
    async (command) => {
      expect(await fate(leading, command)).toBe('denied');
      expect(await fate(plain, command)).toBe('runs');
    },
  );

  it.each([
    'cp -r from/. src/deep',
    'cp from/* src/deep',
    'rsync -a from/ src/deep',
    'install from/* src/deep',
  ])('nothing is copied there: %s', async (command) => {
    expect(await fate(leading, command)).toBe('denied');
    expect(await fate(plain, command)).toBe('runs');
  });

  it('what is changed without following it is', async () => {
    expect(await fate(leading, 'chmod -R 755 src')).toBe('runs');
  });
});

describe('names that are separated by blanks', () => {
  it.each([
    'ls src | xargs cat',
    'find . -type f | xargs cat',
    'find . -type f | sort | xargs wc -l',
    'find . -type f -print0 | xargs cat',
    'find . -type f -print0 | sort | xargs -0 cat',
    'find . -type f | xargs -0 cat',
    'grep -rl x . | xargs cat',
    'rg -l x | xargs cat',
    'git ls-files | xargs cat',
  ])('are not handed on where one has blanks: %s', async (command) => {
    expect(await fate(blank, command)).toBe('denied');
    if (!command.includes('print0') && !command.includes('-0')) {
      expect(await fate(plain, command)).toBe('runs');
    }
  });

  it.each([
    'find . -type f -print0 | xargs -0 cat',
    'grep -rlZ x . | xargs -0 cat',
    'rg -l -0 x | xargs -0 cat',
    'find . -type f -exec cat {} +',
    'find src/deep -type f | xargs cat',
  ])('are where each stays one: %s', async (command) => {
    expect(await fate(blank, command)).toBe('runs');
  });

  it.each([
    'ls -a | xargs ls',
    'ls -aR | xargs cat',
    'ls -f src | xargs grep -r x',
    'ls --all | xargs ls',
    `echo '"../../../secret.txt"' | xargs cat`,
    String.raw`echo '\../../../secret.txt' | xargs cat`,
  ])('do not lead up: %s', async (command) => {
    expect(await fate(plain, command)).toBe('denied');
  });
});
