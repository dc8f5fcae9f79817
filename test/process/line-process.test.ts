import { writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import type { LineProcess, LineProcessRequest } from '../../src/platform/process/process.js';
import { listChildren } from '../../src/platform/process/process-registry.js';
import { isGone, pidsIn, temporaryDirectory, testSupervisor, until } from './helpers.js';

function lineShell(script: string, more: Partial<LineProcessRequest> = {}): LineProcessRequest {
  return {
    command: '/bin/sh',
    args: ['-c', script],
    cwd: tmpdir(),
    env: { PATH: process.env.PATH ?? '/usr/bin:/bin' },
    label: 'line test',
    graceMs: 200,
    ...more,
  };
}

function collect(child: LineProcess): string[] {
  const lines: string[] = [];
  child.onLine((line) => lines.push(line));
  return lines;
}

describe('a line process', () => {
  it('answers line by line for as long as it lives', async () => {
    const child = testSupervisor().open(
      lineShell('while read -r line; do echo "got $line"; done; echo bye'),
    );
    const lines = collect(child);
    for (const word of ['one', 'zwei ü', '三']) {
      expect(child.write(word)).toBe(true);
      expect(await until(() => lines.at(-1) === `got ${word}`)).toBe(true);
    }
    child.closeInput();
    expect(await child.exited).toMatchObject({ exitCode: 0, signal: null });
    expect(lines).toEqual(['got one', 'got zwei ü', 'got 三', 'bye']);
    expect(child.write('late')).toBe(false);
  });

  it('that closes its output is ended, with all that it still runs, as it can answer nobody', async () => {
    const child = testSupervisor().open(lineShell('echo last; exec 1>&-; sleep 60'));
    const lines = collect(child);
    const end = await child.exited;
    expect(end.exitCode === null || end.exitCode !== 0).toBe(true);
    expect(lines).toEqual(['last']);
    expect(child.write('x')).toBe(false);
  });

  it('gives many lines in order, drops empty ones and line ends, and needs no last newline', async () => {
    const child = testSupervisor().open(
      lineShell("seq 1 20000; printf '\\n\\r\\n  \\nwith cr\\r\\nlast'"),
    );
    const lines = collect(child);
    await child.exited;
    expect(lines).toHaveLength(20_002);
    expect(lines[19_999]).toBe('20000');
    expect(lines.slice(-2)).toEqual(['with cr', 'last']);
  });

  it('puts a long line together, and characters that were cut', async () => {
    const child = testSupervisor().open(
      lineShell(
        "head -c 3000000 /dev/zero | tr '\\0' x; printf '\\303'; sleep 0.1; printf '\\244\\n'",
      ),
    );
    const lines = collect(child);
    await child.exited;
    expect(lines).toHaveLength(1);
    expect(lines[0]?.length).toBe(3_000_001);
    expect(lines[0]?.endsWith('xä')).toBe(true);
  });

  it('is ended when a line is too long, with that reason', async () => {
    const child = testSupervisor().open(
      lineShell("echo fine; head -c 5000 /dev/zero | tr '\\0' x; exec sleep 100", {
        maxLineLength: 1000,
      }),
    );
    const lines = collect(child);
    expect(await child.exited).toMatchObject({ exitCode: null, lineTooLong: 1000 });
    expect(lines).toEqual(['fine']);
  });

  it('keeps a bounded part of standard error, readable while it runs', async () => {
    const child = testSupervisor().open(
      lineShell(
        "echo first >&2; head -c 500000 /dev/zero | tr '\\0' x >&2; echo last >&2; read -r x",
      ),
    );
    expect(await until(() => child.stderr().endsWith('last\n'))).toBe(true);
    expect(child.stderr().startsWith('first\n')).toBe(true);
    expect(child.stderr().length).toBeLessThan(66_000);
    child.closeInput();
    expect((await child.exited).stderr).toContain('bytes left out');
  });

  it('tells an exit code from a signal', async () => {
    const supervisor = testSupervisor();
    expect(await supervisor.open(lineShell('exit 7')).exited).toMatchObject({
      exitCode: 7,
      signal: null,
    });
    expect(await supervisor.open(lineShell('kill -KILL $$')).exited).toMatchObject({
      exitCode: null,
      signal: 'SIGKILL',
    });
  });

  it('says why it cannot start, and takes no line', async () => {
    const supervisor = testSupervisor();
    const child = supervisor.open(lineShell('', { command: 'no-such-program-here' }));
    expect([child.pid, child.write('x')]).toEqual([undefined, false]);
    expect(await child.exited).toMatchObject({
      startError: 'Cannot start no-such-program-here: no such program.',
      startErrorKind: 'program-missing',
    });
    await child.kill();
    const script = path.join(temporaryDirectory(), 'script');
    writeFileSync(script, '#!/no/such/interpreter -x\n', { mode: 0o755 });
    const end = await supervisor.open(lineShell('', { command: script })).exited;
    expect(end.startError).toBe(
      `Cannot start ${script}: its first line names the interpreter /no/such/interpreter, which does not exist.`,
    );
  });

  it('never throws when the child does not read, and refuses lines once too much waits', async () => {
    const supervisor = testSupervisor();
    const lazy = supervisor.open(lineShell('exec sleep 100', { maxPendingBytes: 1_000_000 }));
    const line = 'x'.repeat(400_000);
    const taken = Array.from({ length: 12 }, () => lazy.write(line)).filter(Boolean);
    expect(taken.length).toBeGreaterThan(1);
    expect(taken.length).toBeLessThan(12);
    expect(lazy.pendingBytes).toBeGreaterThan(1_000_000);
    await lazy.kill();
    const gone = supervisor.open(lineShell('exec <&-; echo closed; exec sleep 100'));
    const lines = collect(gone);
    expect(await until(() => lines.includes('closed'))).toBe(true);
    expect(await until(() => !gone.write('to nobody'))).toBe(true);
    await gone.kill();
  });
});

describe('the custody of a line process', () => {
  it('ends the whole tree on kill()', async () => {
    const child = testSupervisor().open(
      lineShell("echo $$; setsid sh -c 'echo $$; exec sleep 100' & sleep 100 & echo $!; wait"),
    );
    const lines = collect(child);
    expect(await until(() => lines.length === 3)).toBe(true);
    await child.kill();
    expect(pidsIn(lines.join(' ')).filter((pid) => !isGone(pid))).toEqual([]);
    expect(await child.exited).toMatchObject({ exitCode: null, signal: 'SIGTERM' });
    await child.kill();
  });

  it('is registered at once and ended by killAll()', async () => {
    const stateDirectory = temporaryDirectory();
    const supervisor = testSupervisor({ stateDirectory });
    const child = supervisor.open(lineShell('exec sleep 100'));
    expect(listChildren(stateDirectory).map((each) => each.label)).toEqual(['line test']);
    await supervisor.killAll();
    expect(isGone(child.pid ?? 0)).toBe(true);
    expect(listChildren(stateDirectory)).toEqual([]);
  });

  it('ends what the child leaves in its group', async () => {
    const child = testSupervisor().open(lineShell('sleep 100 & echo $!'));
    const lines = collect(child);
    expect((await child.exited).exitCode).toBe(0);
    const [pid = 0] = pidsIn(lines.join(' '));
    expect(await until(() => isGone(pid))).toBe(true);
  });
});

describe('standard input of other children', () => {
  it('can be opened by name, read twice, and is at its end afterwards', async () => {
    const result = await testSupervisor().run({
      ...lineShell('cat /dev/stdin; head -c 3; cat'),
      input: 'whole input\n',
    });
    expect(result).toMatchObject({ stdout: 'whole input\nwhole input\n', exitCode: 0 });
  });
});

describe('what a command leaves running in its group', () => {
  it('is ended when the time of the group is over, unless it made itself a session', async () => {
    const script =
      "sleep 100 >&- 2>&- & echo $!; setsid sh -c 'echo $$; exec sleep 100 >&- 2>&-' & sleep 0.2";
    const result = await testSupervisor().run({ ...lineShell(script), groupLifetimeMs: 0 });
    expect(result).toMatchObject({ exitCode: 0, leftRunning: true });
    const [inGroup = 0, daemon = 0] = pidsIn(result.stdout);
    expect(await until(() => isGone(inGroup))).toBe(true);
    expect(isGone(daemon)).toBe(false);
    process.kill(daemon, 'SIGKILL');
  });
});
