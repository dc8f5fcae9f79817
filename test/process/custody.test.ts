import { type ChildProcess, spawn } from 'node:child_process';
import { mkdirSync, readdirSync } from 'node:fs';
import path from 'node:path';
import { build } from 'esbuild';
import { beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { listChildren } from '../../src/platform/process/process-registry.js';
import { isGone, temporaryDirectory, until } from './helpers.js';

const program = path.resolve(
  import.meta.dirname,
  '../../node_modules/.cache/test-custody-owner.mjs',
);

beforeAll(async () => {
  await build({
    entryPoints: [path.join(import.meta.dirname, 'custody.fixture.ts')],
    outfile: program,
    bundle: true,
    platform: 'node',
    format: 'esm',
  });
});

interface Runtime {
  readonly owner: ChildProcess;
  readonly ended: Promise<unknown>;
  readonly pids: readonly number[];
  readonly state: string;
}

/** Resolves when all servers, 10 hooks, 5 shells and what they started run. */
async function busyRuntime(leave: 'wait' | 'exit' | 'close', servers = 5): Promise<Runtime> {
  const state = temporaryDirectory();
  const directory = path.join(state, 'pids');
  mkdirSync(directory);
  const owner = spawn(process.execPath, [program, state, directory, leave, String(servers)], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const ended = new Promise((resolve) => owner.once('exit', resolve));
  let output = '';
  owner.stdout.on('data', (chunk) => {
    output += chunk;
  });
  const isReady = await until(() => output.includes('ready'), 60_000);
  const pids = readdirSync(directory).map(Number);
  // Whatever the outcome, a failed test leaves nothing behind either.
  onTestFinished(() => {
    owner.kill('SIGKILL');
    for (const pid of pids.filter((one) => !isGone(one))) process.kill(pid, 'SIGKILL');
  });
  expect(isReady).toBe(true);
  expect(pids.length).toBe(Number(/ready (\d+)/.exec(output)?.[1]));
  return { owner, ended, pids, state };
}

const left = ({ pids }: Runtime): readonly number[] => pids.filter((pid) => !isGone(pid));

describe.runIf(process.platform === 'linux')('a runtime with servers, hooks and shells', () => {
  it('leaves nothing 2 s after kill -9: groups, who left them, and who dropped our environment too', async () => {
    const runtime = await busyRuntime('wait', 20);
    expect(left(runtime)).toHaveLength(runtime.pids.length);
    const listed = listChildren(runtime.state);
    expect(listed.filter(({ kind }) => kind === 'mcp')).toHaveLength(20);
    expect(listed.filter(({ kind }) => kind === 'shell')).toHaveLength(5);
    runtime.owner.kill('SIGKILL');
    await runtime.ended;
    await until(() => left(runtime).length === 0, 2000);
    expect(left(runtime)).toEqual([]);
    // What has no file of its own: the commands that those shells were waiting for.
    expect(await until(() => listChildren(runtime.state).length === 0)).toBe(true);
  }, 300_000);

  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
    it(`leaves nothing after ${signal}`, async () => {
      const runtime = await busyRuntime('wait');
      runtime.owner.kill(signal);
      await runtime.ended;
      expect(left(runtime)).toEqual([]);
      expect(readdirSync(path.join(runtime.state, 'children'))).toEqual([]);
    }, 300_000);
  }

  it('leaves nothing when the session is closed, and nothing when it exits without closing', async () => {
    const closed = await busyRuntime('close');
    await closed.ended;
    expect(left(closed)).toEqual([]);
    const dropped = await busyRuntime('exit');
    await dropped.ended;
    await until(() => left(dropped).length === 0, 2000);
    expect(left(dropped)).toEqual([]);
  }, 300_000);
});
