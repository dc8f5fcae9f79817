import { EventEmitter, once } from 'node:events';
import { PassThrough } from 'node:stream';
import { runProgram } from '../../src/cli/main.js';
import type { HostProcess } from '../../src/cli/output.js';
import type { Launch } from '../../src/testing/scenario.js';

/**
 * Runs the program inside the process of the test, which costs a fifth of starting it. It has its own arguments, environment,
 * directory and streams. Tests of processes, of `process.env` (proxies) and of what outlives a session start the real one.
 */
export const inProcess: Launch = (args, { cwd, env }) => {
  const [stdin, stdout, stderr] = [new PassThrough(), new PassThrough(), new PassThrough()];
  const signals = new EventEmitter();
  const events = new EventEmitter();
  const finish = async (code: number): Promise<void> => {
    const read = [stdout, stderr].map((stream) => once(stream, 'end'));
    for (const stream of [stdout, stderr]) stream.end();
    await Promise.all(read);
    events.emit('close', code, null);
  };
  const fail = (thrown: unknown): boolean => events.emit('error', thrown);
  const host = {
    cwd: () => cwd,
    env: { ...env },
    stdin,
    stdout,
    stderr,
    exit: finish,
    on: signals.on.bind(signals),
  } as unknown as HostProcess;
  runProgram(args, host).then(finish).catch(fail);
  return {
    stdin,
    stdout,
    stderr,
    pid: process.pid,
    kill: (signal: NodeJS.Signals) =>
      signal === 'SIGKILL' ? fail(new Error('no end in time')) : signals.emit(signal),
    on: events.on.bind(events),
  } as unknown as ReturnType<Launch>;
};
