import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { HoldPipe } from '../../src/env/child-hold.js';
import { PipePool } from '../../src/env/pipe-pool.js';
import { shellProgram } from '../../src/tools/shell-program.js';
import { temporaryDirectory } from '../process/helpers.js';
import { bashBench } from './helpers.js';

const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

describe('a command that is held', () => {
  it('has been started when it is asked what it is held for, and has done nothing', async () => {
    const seen: boolean[] = [];
    const bench = bashBench({
      hold: async () => {
        await pause(300);
        seen.push(existsSync(path.join(bench.root, 'done')));
      },
    });
    expect((await bench.bash('touch done; echo went')).text).toBe('went');
    expect(seen).toEqual([false]);
    expect(existsSync(path.join(bench.root, 'done'))).toBe(true);
  });

  it('is ended without having run when what it is held for fails', async () => {
    const bench = bashBench({ hold: () => Promise.reject(new Error('no')) });
    expect((await bench.bash('touch done')).isError).toBe(true);
    expect(existsSync(path.join(bench.root, 'done'))).toBe(false);
  });

  it('is ended without having run when it is interrupted meanwhile', async () => {
    const abort = new AbortController();
    const bench = bashBench({
      signal: abort.signal,
      hold: async () => {
        setTimeout(() => abort.abort(), 20);
        await pause(400);
      },
    });
    const seen = await bench.bash('touch done');
    expect(seen.structured.interrupted).toBe(true);
    await pause(500);
    expect(existsSync(path.join(bench.root, 'done'))).toBe(false);
  });

  it('has all of its time from when it is let go', async () => {
    const bench = bashBench({ hold: () => pause(1500) });
    const seen = await bench.bash('touch begun; sleep 60', { timeout: 1000 });
    expect(seen.isError).toBe(true);
    expect(existsSync(path.join(bench.root, 'begun'))).toBe(true);
  });

  it('sees nothing of it', async () => {
    const command = [
      // Not in a pipeline: while a shell makes one, it has its pipe among its own files.
      'ls /proc/$$/fd; readlink /proc/self/fd/0',
      'echo "[$0] [$*] [$-] [$_] [$?] [$LINENO] [$BASH_ARGC] [$(set | grep -c portcullis)]"',
      'trap -p; shopt; set -o; umask; env | grep -v -e PORTCULLIS -e ^PWD= -e ^_= | sort; read x; echo $?',
    ].join('; ');
    const [held, free] = await Promise.all([
      bashBench().bash(command),
      bashBench({ hold: 'no' }).bash(command),
    ]);
    expect(held).toEqual(free);
    expect(held.text).toContain('/dev/null');
  });

  it('waits for longer than the environment lets a shell wait for a line', async () => {
    const bench = bashBench({
      environment: () => ({ PATH: process.env.PATH ?? '', TMOUT: '1' }),
      hold: () => pause(1500),
    });
    expect((await bench.bash('echo $TMOUT')).text).toBe('1');
  });

  it('is not started at all where the shell would read a file first', async () => {
    const file = path.join(temporaryDirectory(), 'rc');
    writeFileSync(file, 'touch read');
    const seen: boolean[] = [];
    const bench = bashBench({
      environment: () => ({ PATH: process.env.PATH ?? '', BASH_ENV: file }),
      hold: async () => {
        await pause(300);
        seen.push(existsSync(path.join(bench.root, 'read')));
      },
    });
    await bench.bash('true');
    expect(seen).toEqual([false]);
    expect(existsSync(path.join(bench.root, 'read'))).toBe(true);
  });

  it('is started in the background when it may run', async () => {
    let isSafe = false;
    const bench = bashBench({
      hold: async () => {
        await pause(50);
        isSafe = true;
      },
    });
    await bench.bash('true', { run_in_background: true });
    expect(isSafe).toBe(true);
  });

  it.each(['bash', 'sh'] as const)('does not run in %s when we are gone', async (kind) => {
    const pipes = new PipePool();
    const hold = new HoldPipe(pipes);
    const { command, args } = shellProgram(kind, 'echo ran', { reportCwd: false, held: true });
    const child = spawn(command, args, { stdio: [hold.inlet, 'pipe', 'inherit'] });
    hold.spawned(child.stdin);
    let output = '';
    child.stdout?.on('data', (text) => {
      output += text;
    });
    hold.close();
    expect(await once(child, 'close')).toEqual([125, null]);
    hold.giveBack({ mayBeHeld: false });
    expect(output).toBe('');
  });

  it('leaves nothing in a pipe that is used again', async () => {
    const bench = bashBench();
    for (let at = 0; at < 20; at++) {
      expect((await bench.bash(at % 2 === 0 ? `echo ${at}` : 'kill -KILL $$')).text).toBe(
        at % 2 === 0 ? String(at) : 'The command was ended by SIGKILL.',
      );
    }
  });
});
