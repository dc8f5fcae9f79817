import { existsSync, mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { atDeadline, isGone, shell, temporaryDirectory, testSupervisor, until } from './helpers.js';

describe('a child process', () => {
  it('gives its exit code and both streams', async () => {
    const result = await testSupervisor().run(shell('echo out; echo err >&2; exit 3'));
    expect(result).toMatchObject({
      exitCode: 3,
      signal: null,
      stdout: 'out\n',
      stderr: 'err\n',
      control: '',
      timedOut: false,
      aborted: false,
      truncated: false,
      leftRunning: false,
      outputBytes: 8,
    });
    expect(result.startError).toBeUndefined();
  });

  it('never turns death by a signal into an exit code', async () => {
    const result = await testSupervisor().run(shell('kill -KILL $$'));
    expect(result).toMatchObject({ exitCode: null, signal: 'SIGKILL', timedOut: false });
  });

  it('has /dev/null for standard input unless input is given', async () => {
    const supervisor = testSupervisor();
    expect((await supervisor.run(shell('cat; echo done'))).stdout).toBe('done\n');
    expect((await supervisor.run(shell('cat', { input: 'höre' }))).stdout).toBe('höre');
    // A child that does not read its input is no failure of ours.
    const big = 'x'.repeat(4_000_000);
    expect((await supervisor.run(shell('exit 0', { input: big }))).exitCode).toBe(0);
  });

  it('merges the streams in the order written', async () => {
    const script = 'for i in 1 2 3 4 5; do echo o$i; echo e$i >&2; done';
    const result = await testSupervisor().run(shell(script, { mergeStderr: true }));
    expect(result.stdout).toBe('o1\ne1\no2\ne2\no3\ne3\no4\ne4\no5\ne5\n');
    expect(result.stderr).toBe('');
  });

  it('can open its streams by name', async () => {
    const script = 'echo a > /dev/stdout; echo b > /dev/stderr; echo c | tee /dev/stderr';
    const result = await testSupervisor().run(shell(script));
    expect(result).toMatchObject({ stdout: 'a\nc\n', stderr: 'b\nc\n', exitCode: 0 });
  });

  it('leads a session of its own and gets exactly the environment it was given', async () => {
    const result = await testSupervisor().run(
      shell('env', { env: { PATH: '/usr/bin:/bin', A: 'b' } }),
    );
    const names = result.stdout.split('\n').map((line) => line.split('=')[0]);
    expect(
      names.filter((name) => !['', 'PWD', '_', 'SHLVL', 'OLDPWD'].includes(name ?? '')).sort(),
    ).toEqual(['A', 'PATH', 'PORTCULLIS_CHILD_OF']);
  });

  it('hands over what is written to descriptor 3', async () => {
    const result = await testSupervisor().run(
      shell('echo note >&3; echo out; sleep 30 3>&3 >/dev/null 2>&1 &', { controlPipe: true }),
    );
    expect(result).toMatchObject({ control: 'note\n', stdout: 'out\n' });
  });

  it('reports what a child before it left in no pipe', async () => {
    const supervisor = testSupervisor();
    for (let round = 0; round < 20; round++) {
      const result = await supervisor.run(
        shell(`echo ${round}`, { mergeStderr: true, controlPipe: true }),
      );
      expect(result.stdout).toBe(`${round}\n`);
    }
    const many = Array.from({ length: 20 }, (_, index) =>
      supervisor.run(shell(`echo ${index}; echo e${index} >&2`)),
    );
    const results = await Promise.all(many);
    expect(results.map((result) => result.stdout + result.stderr)).toEqual(
      results.map((_, index) => `${index}\ne${index}\n`),
    );
  });

  it('passes output on while it runs, without cutting characters', async () => {
    const seen: string[] = [];
    // The two bytes of ä in two writes.
    const script = "printf '\\303'; sleep 0.2; printf '\\244'; echo e >&2";
    const result = await testSupervisor().run(
      shell(script, { onOutput: (chunk, stream) => seen.push(`${stream}:${chunk}`) }),
    );
    expect(seen.sort()).toEqual(['stderr:e\n', 'stdout:ä']);
    expect(result.stdout).toBe('ä');
  });

  it('decodes bytes that are not UTF-8 with replacement characters and keeps NUL', async () => {
    const result = await testSupervisor().run(shell("printf 'a\\377b\\000c'"));
    expect(result.stdout).toBe('a\ufffdb\0c');
  });
});

describe('the output of a child that ended while this process was busy', () => {
  it('is read before its result is made', async () => {
    const supervisor = testSupervisor();
    const directory = temporaryDirectory();
    const go = path.join(directory, 'go');
    const late = supervisor.start(
      shell(`while [ ! -e '${go}' ]; do sleep 0.01; done; printf late`),
    );
    // Its output and its end arrive together; the other child ends while the output is handled, and is reaped with it.
    const first = supervisor.start(
      shell('printf first', {
        onOutput() {
          writeFileSync(go, '');
          while (!isGone(late.pid ?? 0)) block(20);
        },
      }),
    );
    while (!isGone(first.pid ?? 0)) block(20);
    expect((await first.result).stdout).toBe('first');
    block(300);
    expect(await late.result).toMatchObject({ exitCode: 0, stdout: 'late' });
  });

  function block(ms: number): void {
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms);
  }
});

describe('output that is too long', () => {
  it('is kept by its head and tail, and counted', async () => {
    const script = 'echo first; head -c 10000000 /dev/zero | tr "\\0" x; echo; echo last';
    const result = await testSupervisor().run(shell(script, { maxOutputBytes: 10_000 }));
    expect(result.truncated).toBe(true);
    expect(result.outputBytes).toBe(10_000_012);
    expect(result.stdout.startsWith('first\nxxx')).toBe(true);
    expect(result.stdout.endsWith('xxx\nlast\n')).toBe(true);
    expect(result.stdout).toContain('[9990012 bytes left out]');
    expect(result.stdout.length).toBeLessThan(10_100);
  });

  it('goes to the spill file whole, which is made only then', async () => {
    const file = path.join(temporaryDirectory(), 'deep', 'out.txt');
    const supervisor = testSupervisor();
    const request = { maxOutputBytes: 100, spillFile: () => file };
    const short = await supervisor.run(shell('echo short', request));
    expect([short.truncated, short.spilledTo, existsSync(file)]).toEqual([false, undefined, false]);
    const long = await supervisor.run(shell('seq 1 5000', request));
    expect(long.spilledTo).toBe(file);
    expect(readFileSync(file, 'utf8')).toBe(
      `${Array.from({ length: 5000 }, (_, i) => i + 1).join('\n')}\n`,
    );
    expect(statSync(file).mode & 0o777).toBe(0o600);
  });

  it('stops filling the spill file at its cap and ends the child at the total', async () => {
    const file = path.join(temporaryDirectory(), 'out.txt');
    const result = await testSupervisor().run(
      shell('yes', {
        maxOutputBytes: 100,
        spillFile: file,
        maxSpillBytes: 5000,
        maxTotalBytes: 1_000_000,
      }),
    );
    expect(result).toMatchObject({ outputLimitHit: true, exitCode: null, timedOut: false });
    expect(statSync(file).size).toBe(5000);
  });

  it('offers no spill file that could not be written', async () => {
    const result = await testSupervisor().run(
      shell('seq 1 5000', { maxOutputBytes: 100, spillFile: '/dev/null/nowhere/out.txt' }),
    );
    expect(result.exitCode).toBe(0);
    expect(result.truncated).toBe(true);
    expect(result.spilledTo).toBeUndefined();
  });
});

describe('a child that cannot start', () => {
  it('says which program is missing', async () => {
    const result = await testSupervisor().run(shell('', { command: 'no-such-program-here' }));
    expect(result).toMatchObject({
      exitCode: null,
      signal: null,
      startError: 'Cannot start no-such-program-here: no such program.',
      startErrorKind: 'program-missing',
    });
  });

  it('says that the working directory is gone', async () => {
    const cwd = path.join(temporaryDirectory(), 'gone');
    mkdirSync(cwd);
    rmSync(cwd, { recursive: true });
    const result = await testSupervisor().run(shell('true', { cwd }));
    expect(result.startError).toBe(`The working directory ${cwd} does not exist.`);
    expect(result.startErrorKind).toBe('directory');
  });

  it('says that a file is not executable', async () => {
    const file = path.join(temporaryDirectory(), 'plain');
    writeFileSync(file, 'text', { mode: 0o644 });
    const result = await testSupervisor().run(shell('', { command: file }));
    expect(result.startError).toBe(`Cannot start ${file}: it is not executable.`);
  });

  it('says that the arguments are too long, and refuses NUL', async () => {
    const supervisor = testSupervisor();
    const long = await supervisor.run(shell(`: ${'x'.repeat(4_000_000)}`));
    expect(long.startErrorKind).toBe('too-long');
    expect(long.startError).toContain('too long for the system');
    expect((await supervisor.run(shell('echo a\0b'))).startError).toContain('NUL');
  });

  it('is not started at all when the signal has already fired', async () => {
    const file = path.join(temporaryDirectory(), 'ran');
    const result = await testSupervisor().run(
      shell(`touch ${file}`, { signal: AbortSignal.abort() }),
    );
    expect(result).toMatchObject({ aborted: true, exitCode: null });
    expect(existsSync(file)).toBe(false);
  });
});

describe('ending a tree', () => {
  const ended = (script: string, numbers: number) =>
    atDeadline((timeoutMs) => testSupervisor().run(shell(script, { timeoutMs })), {
      numbers,
      in: ({ stdout }) => stdout,
    });

  it('takes the grandchildren along at the deadline', async () => {
    const { result, pids } = await ended(
      "echo $$; sh -c 'echo $$; sleep 100 & echo $!; sleep 100'",
      3,
    );
    expect(result).toMatchObject({ timedOut: true, aborted: false });
    expect(pids).toHaveLength(3);
    expect(pids.filter((pid) => !isGone(pid))).toEqual([]);
  });

  it('finds those who left the group', async () => {
    const { pids } = await ended(
      "setsid sh -c 'echo $$; setsid sleep 100 & echo $!; wait' & wait",
      2,
    );
    expect(pids).toHaveLength(2);
    expect(pids.filter((pid) => !isGone(pid))).toEqual([]);
  });

  it('finds those who left the group with an empty environment, and what they start in turn', async () => {
    const stray = `trap "" TERM; echo $$; sleep 100 & echo $!; while :; do sleep 0.1; done`;
    const { pids } = await ended(`env -i setsid /bin/sh -c '${stray}' & wait`, 2);
    expect(pids).toHaveLength(2);
    expect(pids.filter((pid) => !isGone(pid))).toEqual([]);
  });

  it('kills for good what does not go politely', async () => {
    const { result, pids } = await ended("trap '' TERM; echo $$; while :; do sleep 0.1; done", 1);
    expect(result).toMatchObject({ timedOut: true, exitCode: null, signal: 'SIGKILL' });
    expect(pids.map(isGone)).toEqual([true]);
  });

  it('happens on abort, keeping the output so far', async () => {
    const controller = new AbortController();
    const started = testSupervisor().start(
      shell('echo begun; exec sleep 100', {
        signal: controller.signal,
        onOutput: () => controller.abort(),
      }),
    );
    expect(await started.result).toMatchObject({
      aborted: true,
      exitCode: null,
      stdout: 'begun\n',
    });
  });

  it('happens on kill(), and on killAll() for everything', async () => {
    const supervisor = testSupervisor();
    const one = supervisor.start(shell('exec sleep 100'));
    await one.kill();
    expect(await one.result).toMatchObject({ signal: 'SIGTERM', timedOut: false, aborted: false });
    const others = [1, 2, 3].map(() => supervisor.start(shell('sleep 100 & sleep 100')));
    await supervisor.killAll();
    for (const other of others) {
      expect(isGone(other.pid ?? 0)).toBe(true);
      expect((await other.result).signal).toBe('SIGTERM');
    }
    await one.kill();
  });
});

describe('what a command leaves running', () => {
  it('does not hold up the result, may go on writing, and is ended with the rest', async () => {
    const file = path.join(temporaryDirectory(), 'alive');
    const supervisor = testSupervisor();
    const script = `(trap '' PIPE; sleep 0.3; echo late && echo ok > ${file}; exec sleep 100) & echo $!`;
    const result = await supervisor.run(shell(script));
    expect(result).toMatchObject({ exitCode: 0, leftRunning: true });
    const pid = Number(result.stdout);
    expect(await until(() => existsSync(file))).toBe(true);
    expect(isGone(pid)).toBe(false);
    await supervisor.killAll();
    expect(isGone(pid)).toBe(true);
  });

  it('still gives the output that arrives a moment after the exit', async () => {
    const result = await testSupervisor().run(shell('(exec sh -c "echo late") & echo now'));
    expect(result.stdout.split('\n').sort()).toEqual(['', 'late', 'now']);
  });
});
