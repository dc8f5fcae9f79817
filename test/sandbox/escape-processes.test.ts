import { spawn } from 'node:child_process';
import {
  closeSync,
  existsSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { nodeSandboxHost } from '../../src/sandbox/host/host.js';
import { openSandbox } from '../../src/sandbox/session/sandbox.js';
import { until } from '../process/helpers.js';
import { environment, type SessionEnvironment, start, whyNot } from './inside.js';

const reason = await whyNot();
const named = (what: string): string => `${what}${reason === undefined ? '' : ` (${reason})`}`;
const isX64 = process.arch === 'x64';

describe.skipIf(reason !== undefined)(named('processes, attacked from inside'), () => {
  let g: SessionEnvironment;
  beforeAll(async () => {
    process.env.PORTCULLIS_TEST_SECRET_OUTSIDE = 'hunter2';
    g = await environment();
  });
  afterAll(async () => {
    delete process.env.PORTCULLIS_TEST_SECRET_OUTSIDE;
    await g.close();
  });

  it('shows neither environment nor descriptors of what started it (SC-304)', async () => {
    const ran = await g.run(
      `cat /proc/1/environ /proc/$PPID/environ /proc/self/environ /proc/*/environ | tr '\\0' '\\n'
       ls -l /proc/1/fd /proc/$PPID/fd; cat /proc/*/cmdline | tr '\\0' ' '; cat /proc/1/maps >/dev/null && head -c1 /proc/1/mem`,
      {},
      { env: { MINE: 'mine' } },
    );
    expect(ran.out).not.toContain('hunter2');
    expect(ran.out).not.toContain('vitest');
    expect(ran.out).toContain('MINE=mine');
  });

  it('gives the program its own environment and nothing of the shell that starts it', async () => {
    const { out } = await g.run('exec env', {}, { env: { A: '1', ODD: 'a\nb "c" $d' } });
    const names = [...out.matchAll(/^(\w+)=/gm)].map(([, name]) => name);
    expect(names.sort()).toEqual(
      ['A', 'HOME', 'ODD', 'PATH', 'PWD', 'SHLVL', 'TEMP', 'TMP', 'TMPDIR', '_'].filter((name) =>
        names.includes(name),
      ),
    );
    expect(out).toContain('ODD=a\nb "c" $d');
  });

  it('does not run code of the program’s environment outside', async () => {
    const trap = path.join(g.project, 'trap.sh');
    writeFileSync(trap, `touch ${g.outside}/PWNED`);
    const env = {
      ENV: trap,
      BASH_ENV: trap,
      LD_PRELOAD: `${g.project}/evil.so`,
      SHELLOPTS: 'xtrace',
    };
    const ran = await g.run('true', {}, { env });
    expect(existsSync(path.join(g.outside, 'PWNED'))).toBe(false);
    expect(ran.err).toContain('Read-only file system');
  });

  it('reaches no process outside, neither by signal nor by tracing', async () => {
    const victim = spawn('sleep', ['60'], { stdio: 'ignore' });
    const ran = await g.run(
      `kill -9 ${victim.pid} && echo GOT; kill -9 -${victim.pid} && echo GOT; kill -9 ${process.pid} && echo GOT
       perl -e 'syscall(101, 16, ${victim.pid}, 0, 0) == 0 and print "GOT"; syscall(434, ${victim.pid}, 0) >= 0 and print "GOT"'
       cat /proc/${victim.pid}/status /proc/${process.pid}/status; ls -d /proc/[0-9]* | wc -l`,
    );
    expect(ran.out).not.toContain('GOT');
    expect(ran.out).not.toContain('Name:');
    expect(Number(ran.out.trim().split('\n').at(-1))).toBeLessThan(10);
    expect(victim.exitCode ?? victim.signalCode).toBeNull();
    victim.kill('SIGKILL');
  });

  it('kills everything of its own and nothing else with kill -1', async () => {
    const victim = spawn('sleep', ['60'], { stdio: 'ignore' });
    await g.run('kill -9 -1; sleep 5');
    expect(victim.exitCode ?? victim.signalCode).toBeNull();
    victim.kill('SIGKILL');
  });

  it('has no terminal and types into none (SC-305)', async () => {
    const attack = `perl -e 'open(T, "+<", "/dev/tty") and print "GOT"; for my $f (0, 1, 2) { open(F, "+<&=", $f); for my $c (split //, "touch PWNED\\n") { ioctl(F, 0x5412, $c) and print "GOT" } print "$!;" }'`;
    const wrapped = await g.wrap(`${attack}; tty; ps -o tty= -p $$`);
    const quote = (word: string): string => `'${word.replaceAll("'", "'\\''")}'`;
    const line = [wrapped.command, ...wrapped.args].map(quote).join(' ');
    // A real terminal, so that there is something to type into.
    const inTerminal = {
      ...wrapped,
      command: 'script',
      args: ['-qec', `stty -echo; ${line}`, '/dev/null'],
    };
    const { out } = await start({
      ...inTerminal,
      env: { PATH: process.env.PATH ?? '', SHELL: '/bin/sh' },
    });
    await wrapped.release();
    expect(out).not.toContain('GOT');
    expect(out).toContain('Operation not permitted');
    expect(existsSync(path.join(g.project, 'PWNED'))).toBe(false);
  });

  it('inherits no descriptor but 0 to 3', async () => {
    const stateDirectory = path.join(g.base, 'state');
    const host = { ...nodeSandboxHost(), inheritedDescriptors: () => [5, 9, 12, 27] };
    const sandbox = await openSandbox({ env: {}, stateDirectory, host });
    const program = {
      command: '/bin/sh',
      args: ['-c', 'ls /proc/self/fd; ls /proc/$$/fd'],
      cwd: g.project,
      env: { PATH: '/usr/bin:/bin' },
    };
    const wrapped = await sandbox.wrap(program, g.policy());
    const leak = openSync(g.outside, 'r');
    const stdio = ['ignore', 'pipe', 'pipe', 'pipe', ...new Array(24).fill(leak)];
    const child = spawn(wrapped.command, [...wrapped.args], { cwd: wrapped.cwd, env: {}, stdio });
    let out = '';
    child.stdout?.on('data', (chunk) => {
      out += String(chunk);
    });
    await new Promise((resolve) => child.once('close', resolve));
    closeSync(leak);
    await wrapped.release();
    await sandbox.close();
    // The test hands over 4 to 27; the sandbox was told of some above 9, and closes all up to 9.
    const seen = new Set(
      out
        .split(/\s+/)
        .filter((word) => word !== '')
        .map(Number),
    );
    for (const fd of [5, 6, 7, 8, 9, 12, 27]) expect(seen).not.toContain(fd);
    expect(seen).toContain(13);
  });

  it.each([
    ['a user namespace', 'unshare -U true && echo GOT; unshare -Ur true && echo GOT'],
    [
      'any other namespace',
      'unshare -m true && echo GOT; unshare -n true && echo GOT; unshare -p -f true && echo GOT',
    ],
    [
      'a user namespace by the calls themselves',
      `perl -e 'syscall(272, 0x10000000) == 0 and print "GOT"; $p = syscall(56, 0x10000011, 0, 0, 0, 0); print "GOT" if $p >= 0; print "GOT" if syscall(435, 0, 0) >= 0; print "$!"'`,
    ],
    [
      'the namespaces of others',
      'nsenter -t 1 -m true && echo GOT; nsenter -t 1 -n true && echo GOT',
    ],
    ['io_uring', `perl -e '$p = "\\0" x 120; syscall(425, 8, $p) >= 0 and print "GOT"; print $!'`],
    [
      'the keys of the session',
      `perl -e 'syscall(250, 0, -3, 0) >= 0 and print "GOT"; syscall(248, "user", "a", "b", 1, -3) >= 0 and print "GOT"'; keyctl show 2>/dev/null && echo GOT`,
    ],
    [
      'programs for the kernel',
      `perl -e 'syscall(321, 0, "\\0" x 64, 64) >= 0 and print "GOT"; syscall(298, "\\0" x 128, 0, -1, -1, 0) >= 0 and print "GOT"'`,
    ],
    [
      'calls by the x32 numbers',
      `perl -e 'for my $f (1, 2) { syscall(0x40000000 | 41, $f, 1, 0) >= 0 and print "GOT" } print $!'`,
    ],
    [
      'another personality of the kernel: modules, reboot, swap',
      `perl -e 'syscall(175, 0, 0, "") == 0 and print "GOT"; syscall(313, 0, "", 0) == 0 and print "GOT"; syscall(169, 1, 2, 3, 0) == 0 and print "GOT"; syscall(167, "/x", 0) == 0 and print "GOT"'`,
    ],
  ])('gives no %s', async (name, attack) => {
    if (!isX64 && attack.includes('syscall')) return;
    const ran = await g.run(attack);
    expect(ran.out, name).not.toContain('GOT');
  });

  it('gives namespaces to those who asked for them in settings', async () => {
    const ran = await g.run('unshare -U true && echo GOT', {
      weaker: { nestedUserNamespaces: true },
    });
    expect(ran.out).toContain('GOT');
    const attack = await g.run(
      `unshare -Um sh -c 'mount -o remount,rw,bind / ; mount --bind ${g.outside} /mnt; echo x > ${g.outside}/x; echo x > /etc/portcullis-x; umount -l /proc/sys'`,
      { weaker: { nestedUserNamespaces: true } },
    );
    expect(attack.err).not.toBe('');
    expect(readdirSync(g.outside)).toEqual([]);
    expect(existsSync('/etc/portcullis-x')).toBe(false);
  });

  it('leaves nothing running when the program has ended or is killed', async () => {
    const beat = path.join(g.project, 'beat');
    const daemon = `(setsid sh -c 'while :; do date +%s%N > ${beat}; sleep 0.05; done' >/dev/null 2>&1 &) ; until [ -s ${beat} ]; do sleep 0.05; done`;
    const beats = async (): Promise<boolean> => {
      const one = readFileSync(beat, 'utf8');
      await new Promise((resolve) => setTimeout(resolve, 500));
      return readFileSync(beat, 'utf8') !== one;
    };
    await g.run(daemon);
    expect(await beats()).toBe(false);
    rmSync(beat);
    const wrapped = await g.wrap(`${daemon}; sleep 60`);
    await start(wrapped, {
      during: async (child) => {
        await until(() => existsSync(beat));
        child.kill('SIGKILL');
      },
    });
    await wrapped.release();
    expect(await beats()).toBe(false);
  });

  it('passes on exit codes, signals and missing programs', async () => {
    expect((await g.run('exit 7')).code).toBe(7);
    expect((await g.run('kill -TERM $$')).code).toBe(143);
    const program = {
      command: 'no-such-program',
      args: [],
      cwd: g.project,
      env: { PATH: '/usr/bin' },
    };
    for (const network of [
      { kind: 'none' },
      { kind: 'filtered', allows: async () => false },
    ] as const) {
      const wrapped = await g.sandbox.wrap(program, g.policy({ network }));
      const { code, err } = await start(wrapped);
      await wrapped.release();
      expect(code).not.toBe(0);
      expect(err).toContain('No such file or directory');
    }
  });

  it('does not start where the directory cannot be seen', async () => {
    const hidden = path.join(g.base, 'hidden');
    mkdirSync(hidden, { recursive: true });
    const ran = await g.run('echo GOT', { hidden: [hidden] }, { cwd: path.join(hidden) });
    expect(ran.out).toBe('GOT\n');
    mkdirSync(path.join(hidden, 'deep'));
    const deep = await g.run('echo GOT', { hidden: [hidden] }, { cwd: path.join(hidden, 'deep') });
    expect(deep.out).toBe('');
    expect(deep.code).not.toBe(0);
  });
});
