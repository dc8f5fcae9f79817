import { execFileSync } from 'node:child_process';
import {
  existsSync,
  linkSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { environment, type SessionEnvironment, start, whyNot } from './inside.js';

const reason = await whyNot();

describe.skipIf(reason !== undefined)(
  `files, attacked from inside${reason ? ` (${reason})` : ''}`,
  () => {
    let g: SessionEnvironment;
    beforeAll(async () => {
      g = await environment();
    });
    afterAll(() => g.close());

    let count = 0;
    /** A project of its own for each test. */
    let project: string;
    beforeEach(() => {
      count += 1;
      project = path.join(g.project, `p${count}`);
      mkdirSync(project);
    });
    const put = (name: string, text = 'before'): string => {
      const file = path.join(project, name);
      mkdirSync(path.dirname(file), { recursive: true });
      writeFileSync(file, text);
      return file;
    };
    const run = (script: string, more: Parameters<SessionEnvironment['run']>[1] = {}) =>
      g.run(script, { writable: [project], ...more }, { cwd: project });

    it('lets a program write where it may, and nowhere else', async () => {
      const ran = await run(
        `echo x > inside; echo x > ${g.outside}/x; echo x > ../x; echo x > /etc/portcullis-x`,
      );
      expect(readFileSync(path.join(project, 'inside'), 'utf8')).toBe('x\n');
      expect(existsSync(path.join(g.outside, 'x'))).toBe(false);
      expect(existsSync(path.join(g.project, 'x'))).toBe(false);
      expect(existsSync('/etc/portcullis-x')).toBe(false);
      expect(ran.refusals).toContain('outside the directories that may be written');
    });

    it.each([
      ['remount the root', 'mount -o remount,rw,bind /'],
      [
        'remount the root by the call itself',
        `perl -e 'syscall(165, "none", "/", "", 32|4096, 0)'`,
      ],
      ['mount a fresh file system', 'mount -t tmpfs none /mnt'],
      ['bind the outside somewhere writable', 'mkdir m; mount --bind $OUT m && echo x > m/x'],
      ['take the masks off', 'umount -l /tmp; umount -l $OUT; umount /proc/sys'],
      [
        'use the new calls for mounts',
        `perl -e 'exit(syscall(428, -100, "/", 1) < 0)' && echo GOT`,
      ],
    ])('does not let it %s', async (_name, attack) => {
      const ran = await run(
        `export OUT=${g.outside}; ${attack}; echo x > $OUT/x; echo x > /portcullis-x`,
      );
      expect(existsSync(path.join(g.outside, 'x'))).toBe(false);
      expect(existsSync('/portcullis-x')).toBe(false);
      expect(ran.out).not.toContain('GOT');
    });

    it('does not follow a link out', async () => {
      await run(
        `ln -s ${g.outside} away; echo x > away/linked; ln -s ${g.outside}/f f; echo x > f; cp -r away/. . 2>/dev/null; true`,
      );
      expect(readdirSync(g.outside)).toEqual([]);
    });

    it('keeps a protected file from every way of changing it', async () => {
      const file = put('.mcp.json');
      const attacks = `echo x > .mcp.json; truncate -s0 .mcp.json; rm -f .mcp.json; echo evil > e
      mv -f e .mcp.json; cp e .mcp.json; ln -sf e .mcp.json; chmod 777 .mcp.json; sed -i s/b/x/ .mcp.json
      dd if=/dev/zero of=.mcp.json 2>/dev/null; perl -e 'rename "e", ".mcp.json"'; touch .mcp.json
      echo x > ../p${count}/.mcp.json; echo x > ./sub/../.mcp.json; echo x > /proc/self/cwd/.mcp.json`;
      const before = lstatSync(file);
      const ran = await run(`mkdir sub; ${attacks}; false`, { protected: [file] });
      expect(readFileSync(file, 'utf8')).toBe('before');
      const after = lstatSync(file);
      expect([after.ino, after.mode, after.mtimeMs]).toEqual([
        before.ino,
        before.mode,
        before.mtimeMs,
      ]);
      expect(ran.refusals).toContain('.mcp.json is protected');
    });

    it('does not let the parents of a protected path be moved away', async () => {
      const hook = put('a/.git/hooks/pre-commit');
      await run(
        `mv a/.git a/old; mv a b; mkdir -p a/.git/hooks; echo evil > a/.git/hooks/pre-commit
       perl -e 'rename "a", "c"; rename "a/.git", "d"; syscall(316, -100, "a", -100, "z", 2)'
       cd ..; mv p${count} q; perl -e 'rename "p${count}", "q"'; true`,
        { protected: [path.dirname(hook)] },
      );
      expect(readFileSync(hook, 'utf8')).toBe('before');
      expect(readdirSync(path.dirname(hook))).toEqual(['pre-commit']);
    });

    it('does not let a protected file be changed through a hard link', async () => {
      const file = put('conf/settings.json');
      const ran = await run(
        'ln conf/settings.json twin && echo evil > twin; ln -L /proc/self/cwd/conf/settings.json two && echo evil > two; ls',
        { protected: [file] },
      );
      expect(readFileSync(file, 'utf8')).toBe('before');
      expect(ran.out).not.toContain('twin');
    });

    it('does not let a directory be swapped for a link', async () => {
      const file = put('dir/inner/kept');
      await run(
        `mkdir -p ev/inner; echo evil > ev/inner/kept; rm -rf dir; rmdir dir/inner; ln -sfn ev dir
       perl -e 'syscall(316, -100, "ev", -100, "dir", 2)'; mv -T ev dir; true`,
        { protected: [file] },
      );
      expect(readFileSync(file, 'utf8')).toBe('before');
      expect(lstatSync(path.join(project, 'dir')).isDirectory()).toBe(true);
    });

    it('does not let a protected path come into being, and leaves nothing behind', async () => {
      const missing = ['.claude/settings.json', '.vscode', 'x/y/z', 'HEAD'].map((one) =>
        path.join(project, one),
      );
      const ran = await run(
        `mkdir .claude; echo evil > .claude/settings.json; mkdir -p .vscode; echo evil > .vscode/tasks.json
       mkdir -p x/y; echo evil > x/y/z; echo evil > HEAD; rmdir .vscode HEAD; rm -rf .claude; mv .vscode v
       ln -sf /etc HEAD; echo fine > other; find . -type f | sort`,
        { protected: missing },
      );
      expect(ran.out.trim()).toBe('./other');
      expect(readdirSync(project)).toEqual(['other']);
    });

    it('leaves nothing behind when the program is killed', async () => {
      const wrapped = await g.sandbox.wrap(
        { command: '/bin/sleep', args: ['60'], cwd: project, env: {} },
        g.policy({ writable: [project], protected: [path.join(project, '.idea')] }),
      );
      await start(wrapped, {
        during: (child) => void setTimeout(() => child.kill('SIGKILL'), 300),
      });
      await wrapped.release();
      expect(readdirSync(project)).toEqual([]);
    });

    it('keeps a mount point that another program still needs', async () => {
      const idea = path.join(project, '.idea');
      const more = { writable: [project], protected: [idea] };
      const slow = await g.wrap(
        `cd ${project}; while [ ! -e go ]; do sleep 0.05; done; mkdir .idea; echo evil > .idea/x; ls -A`,
        more,
      );
      const running = start(slow);
      await g.run(':', more, { cwd: project });
      expect(existsSync(idea)).toBe(true);
      writeFileSync(path.join(project, 'go'), '');
      const { err } = await running;
      await slow.release();
      expect(err).toContain('Read-only file system');
      expect(readdirSync(project)).toEqual(['go']);
    });

    it('takes away what a program of ours that was killed left behind', async () => {
      const left = path.join(project, '.husky');
      const kept = path.join(project, '.vscode');
      mkdirSync(left);
      mkdirSync(kept);
      writeFileSync(path.join(kept, 'mine'), '');
      const state = path.join(g.base, 'state', 'sandbox');
      mkdirSync(state, { recursive: true });
      writeFileSync(path.join(state, '999999999-1.mounts'), JSON.stringify([left, kept]));
      await run(':', { protected: [path.join(project, '.idea')] });
      expect(existsSync(left)).toBe(false);
      expect(readdirSync(kept)).toEqual(['mine']);
    });

    it('covers a protected path that is reached through a link, and the link', async () => {
      put('real/settings.json');
      put('keep.txt');
      symlinkSync('hop', path.join(project, '.claude'));
      symlinkSync('real', path.join(project, 'hop'));
      const file = path.join(project, '.claude/settings.json');
      const ran = await run(
        `echo evil > .claude/settings.json; rm .claude; mkdir .claude; echo evil > .claude/settings.json
       rm hop; ln -s /tmp hop; mv real r2; echo fine > keep.txt; echo fine > real/other`,
        { protected: [file] },
      );
      expect(readFileSync(file, 'utf8')).toBe('before');
      expect(readFileSync(path.join(project, 'keep.txt'), 'utf8')).toBe('fine\n');
      expect(readFileSync(path.join(project, 'real/other'), 'utf8')).toBe('fine\n');
      expect(ran.err).toContain('Read-only file system');
    });

    it('hides files and trees, whichever way they are looked at', async () => {
      const secret = put('.env', 'hunter2');
      put('vault/deep/key', 'hunter2');
      put('vault/open/readme', 'welcome');
      symlinkSync('vault', path.join(project, 'alias'));
      const ran = await run(
        `cat .env alias/deep/key vault/deep/key /proc/self/root${project}/.env; grep -r hunter2 .; ln .env twin; cat twin
       cp .env copy; mv .env moved; mv vault moved2; cat moved moved2/deep/key; tar cf - . | strings | grep hunter2
       cat vault/open/readme; echo x > vault/open/y; echo x > vault/y; ls vault`,
        {
          hidden: [secret, path.join(project, 'alias')],
          shown: [path.join(project, 'vault/open')],
        },
      );
      expect(ran.out).not.toContain('hunter2');
      expect(ran.out).toContain('welcome');
      expect(readdirSync(path.join(project, 'vault'))).toEqual(['deep', 'open']);
      expect(readFileSync(secret, 'utf8')).toBe('hunter2');
      expect(ran.err).toContain('.env: Permission denied');
    });

    it('does not let what is hidden be moved to where the next program finds it', async () => {
      const key = put('a/b/key', 'hunter2');
      const more = { hidden: [key] };
      await run('mv a/b a/c; mv a d; cp -r a e; ln -s a/b f; true', more);
      expect((await run('cat */key */*/key; grep -r hunter2 .', more)).out).toBe('');
      expect(readFileSync(key, 'utf8')).toBe('hunter2');
    });

    it('shows what may be written inside a hidden tree', async () => {
      put('work/file');
      put('secret', 'hunter2');
      const ran = await g.run(
        'ls ..; cat ../secret; echo ok > file',
        { writable: [path.join(project, 'work')], hidden: [project] },
        { cwd: path.join(project, 'work') },
      );
      expect(ran.out).toBe('work\n');
      expect(readFileSync(path.join(project, 'work/file'), 'utf8')).toBe('ok\n');
    });

    it('protects more than it opens, and hides more than it shows', async () => {
      const file = put('tree/inner/file');
      const tree = path.join(project, 'tree');
      const ran = await g.run(
        `echo x > ${file}; echo x > ${tree}/new; cat ${file}`,
        {
          writable: [project, path.join(tree, 'inner')],
          protected: [tree],
          hidden: [file],
          shown: [file],
        },
        { cwd: project },
      );
      expect(readFileSync(file, 'utf8')).toBe('before');
      expect(existsSync(path.join(tree, 'new'))).toBe(false);
      expect(ran.out).toBe('');
    });

    it('has a /tmp of its own, which programs share only by name', async () => {
      const outside = path.join(os.tmpdir(), `portcullis-seen-${process.pid}`);
      writeFileSync(outside, 'hunter2');
      const name = path.basename(outside);
      const first = await run(
        `cat ${outside} /tmp/${name} $TMPDIR/${name}; echo x > /tmp/${name}-in; echo x > /var/tmp/${name}-in; ls /tmp`,
        { scratch: 'a' },
      );
      expect(first.out).not.toContain('hunter2');
      expect(existsSync(`/tmp/${name}-in`) || existsSync(`/var/tmp/${name}-in`)).toBe(false);
      expect((await run('ls /tmp', { scratch: 'a' })).out).toContain(`${name}-in`);
      expect((await run('ls /tmp', { scratch: 'b' })).out).not.toContain(`${name}-in`);
      expect((await run('ls /tmp')).out).not.toContain(`${name}-in`);
      execFileSync('rm', ['-f', outside]);
    });

    it('keeps its own files out of reach, also where all around them may be written', async () => {
      const own = path.join(g.base, 'state', 'sandbox');
      const ran = await run(
        `ls -A ${own}; cat ${own}/*/*; echo x > ${own}/x; for f in ${own}/run*/*; do echo > $f; done; rm -rf ${own}; mv ${g.base}/state ${g.base}/s2; ls -A ${own}`,
        { writable: [g.base] },
      );
      expect(ran.out).toBe('');
      expect(existsSync(path.join(own, 'x'))).toBe(false);
      expect(readdirSync(own)).not.toEqual([]);
      expect((await run('echo still here')).out).toBe('still here\n');
    });

    it('still closes what is not a file of the person where all files are open', async () => {
      const own = path.join(g.base, 'state', 'sandbox');
      const ran = await g.run(
        `echo x > ${g.outside}/open; cat ${own}/*/*; v=$(cat /proc/sys/vm/swappiness); echo $v > /proc/sys/vm/swappiness && echo WROTE; ls /dev/mem; mount -t tmpfs none /mnt && echo MOUNTED`,
        { writable: ['/'] },
      );
      expect(readFileSync(path.join(g.outside, 'open'), 'utf8')).toBe('x\n');
      execFileSync('rm', [path.join(g.outside, 'open')]);
      expect(ran.out).toBe('');
    });

    it('keeps many programs at once apart', async () => {
      const idea = path.join(project, '.idea');
      const all = await Promise.all(
        Array.from({ length: 12 }, (_, at) =>
          run(`echo ${at} > f${at}; mkdir .idea/x 2>/dev/null || cat f${at}`, {
            protected: [idea],
          }),
        ),
      );
      expect(all.map(({ out }) => Number(out))).toEqual(all.map((_, at) => at));
      expect(existsSync(idea)).toBe(false);
    });

    it('does not let the settings of the machine be written', async () => {
      const ran = await run(
        `for f in /proc/sys/kernel/core_pattern /proc/sys/kernel/core_uses_pid /proc/sys/vm/swappiness /proc/sys/fs/file-max; do
         v=$(cat $f); echo "$v" > $f && echo WROTE $f; done; echo > /proc/sysrq-trigger && echo WROTE
       find /sys -maxdepth 3 -writable -type f 2>/dev/null | while read f; do [ -e "$f" ] && : >> "$f" && echo WROTE $f; done`,
      );
      expect(ran.out).not.toContain('WROTE');
    });

    it.each([
      ['device nodes', 'mknod d b 8 0; mknod c c 1 1; [ -e d ] || [ -e c ] && echo GOT'],
      [
        'the memory and disks of the machine',
        'head -c1 /dev/mem /dev/kmem /dev/kmsg /dev/sda /dev/vda /dev/nvme0n1 2>/dev/null; ls /dev | grep -E "mem|^sd|^vd|kmsg|fuse|kvm" && echo GOT',
      ],
      ['another root', `perl -e 'chroot(".") and print "GOT\\n"'`],
      [
        'a file by its number',
        `perl -e '$h = pack("IIx128", 128, 1); syscall(304, -100, $h, 0) >= 0 and print "GOT"; print $!' | grep -v "not permitted"`,
      ],
      [
        'files that run as their owner',
        `cp /bin/true t; chmod u+s t; perl -e 'chmod 04755, "t"; syscall(2, "u", 0101, 04755); syscall(257, -100, "w", 0101, 04755); syscall(133, "v", 0104755, 0); syscall(85, "x", 04755)'; find . -perm -4000 | grep . && echo GOT`,
      ],
      [
        'more rights by programs of the system',
        `grep -q "NoNewPrivs:.1" /proc/self/status && grep -q "CapEff:.0*$" /proc/self/status && grep -q "CapBnd:.0*$" /proc/self/status || echo GOT`,
      ],
    ])('gives no %s', async (_name, attack) => {
      expect((await run(attack)).out).not.toContain('GOT');
    });

    it('opens the shared directory of git to a worktree, but neither its hooks nor its settings (SC-193)', async () => {
      const main = path.join(project, 'main');
      mkdirSync(main);
      const git = (...args: string[]): string =>
        execFileSync('git', ['-c', 'user.name=t', '-c', 'user.email=t@example.com', ...args], {
          cwd: main,
          encoding: 'utf8',
        });
      git('init', '-q');
      writeFileSync(path.join(main, 'README.md'), 'before');
      git('add', '.');
      git('commit', '-q', '-m', 'one');
      const tree = path.join(project, 'tree');
      git('worktree', 'add', '-q', tree);
      const shared = path.join(main, '.git');
      const ran = await g.run(
        `echo x >> ${main}/README.md; echo evil > $(git rev-parse --git-common-dir)/hooks/pre-commit
       git config core.fsmonitor ./evil; mv ${shared}/hooks ${shared}/h; mv ${shared} ${shared}2
       echo y > file; git add file; git -c user.name=t -c user.email=t@example.com commit -q -m two; git log --oneline | wc -l`,
        {
          writable: [tree, shared],
          protected: ['hooks', 'config', 'config.worktree'].map((name) => path.join(shared, name)),
        },
        { cwd: tree },
      );
      expect(readFileSync(path.join(main, 'README.md'), 'utf8')).toBe('before');
      expect(existsSync(path.join(shared, 'hooks/pre-commit'))).toBe(false);
      expect(readFileSync(path.join(shared, 'config'), 'utf8')).not.toContain('evil');
      expect(existsSync(path.join(shared, 'config.worktree'))).toBe(false);
      expect(ran.out.trim()).toBe('2');
    });

    it('does not let what is run outside later be planted (SC-300, SC-301)', async () => {
      const activate = put('.venv/bin/activate');
      await run(
        `echo 'touch PWNED' >> .venv/bin/activate; mv .venv/bin .venv/b; mv .venv v; mkdir -p .venv/bin; echo evil > .venv/bin/activate`,
        { protected: [activate] },
      );
      expect(readFileSync(activate, 'utf8')).toBe('before');
    });

    it('says when a link that existed before leads past it', () => {
      // A second name for a protected file is a limit of mounts, which the documentation names.
      const file = put('.npmrc');
      linkSync(file, path.join(project, 'second-name'));
      expect(lstatSync(file).nlink).toBe(2);
      expect(
        readFileSync(path.resolve(import.meta.dirname, '../../docs/sandbox.md'), 'utf8'),
      ).toContain('hard link');
    });
  },
);
