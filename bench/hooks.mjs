// node bench/hooks.mjs [--rounds=400] [--json]: what a command hook costs on top of the program it runs,
// what a question to a persistent hook costs once it is warm, and what a call pays where there is none.
import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { build } from 'esbuild';

const ROOT = path.join(import.meta.dirname, '..');
const option = (name, fallback) =>
  process.argv.find((arg) => arg.startsWith(`--${name}=`))?.split('=')[1] ?? fallback;
const rounds = Number(option('rounds', '400'));
/** Bounds that must hold. */
const BARS = { ratio: 1.3, persistentMs: 1, withoutHooksUs: 50 };
const COMMAND = 'cat >/dev/null';
const ECHO = `
require('node:readline').createInterface({ input: process.stdin }).on('line', (line) => {
  process.stdout.write('{"id":' + JSON.parse(line).id + ',"output":null}\\n');
});`;

const work = mkdtempSync(path.join(ROOT, 'node_modules', '.cache-hooks-'));
const project = mkdtempSync(path.join(os.tmpdir(), 'hooks-bench-'));

async function bundle() {
  const outfile = path.join(work, 'hooks.mjs');
  await build({
    absWorkingDir: ROOT,
    stdin: {
      contents: `
        export { createCommandRunner } from './src/hooks/command-runner.ts';
        export { createPersistentHooks } from './src/hooks/persistent-hooks.ts';
        export { createProcessSupervisor } from './src/env/node-process.ts';
        export { captureHooks } from './src/hooks/capture.ts';
        export { createHookDispatch } from './src/hooks/dispatch.ts';
        export { createHookPrecheck } from './src/hooks/pre-tool-use.ts';
        export { MAIN_AGENT } from './src/protocol/agent-ref.ts';`,
      resolveDir: ROOT,
      loader: 'ts',
    },
    bundle: true,
    format: 'esm',
    platform: 'node',
    target: 'node20',
    outfile,
    logLevel: 'error',
  });
  return import(pathToFileURL(outfile).href);
}

/** The least that Node can do for the same: the program, its input, both streams, its exit code. */
function bare(json) {
  return new Promise((resolve) => {
    const child = spawn('/bin/sh', ['-c', COMMAND], { cwd: project });
    let output = '';
    child.stdout.on('data', (chunk) => {
      output += chunk;
    });
    child.stderr.on('data', (chunk) => {
      output += chunk;
    });
    child.on('close', (exitCode) => resolve({ exitCode, output }));
    child.stdin.end(`${json}\n`);
  });
}

const quantile = (values, share) =>
  [...values].sort((a, b) => a - b)[Math.floor(values.length * share)] ?? 0;
const figures = (values) => ({
  median: Number(quantile(values, 0.5).toFixed(3)),
  tenth: Number(quantile(values, 0.1).toFixed(3)),
  ninetieth: Number(quantile(values, 0.9).toFixed(3)),
});

async function timed(times, work) {
  const start = performance.now();
  const value = await work();
  times.push(performance.now() - start);
  return value;
}

try {
  const {
    captureHooks,
    createCommandRunner,
    createHookDispatch,
    createHookPrecheck,
    createPersistentHooks,
    createProcessSupervisor,
    MAIN_AGENT,
  } = await bundle();
  writeFileSync(path.join(project, 'echo.cjs'), ECHO);
  const processes = createProcessSupervisor();
  processes.warmUp();
  const context = {
    processes,
    env: process.env,
    projectDir: project,
    sessionId: () => 'bench',
    platform: process.platform,
  };
  const persistent = createPersistentHooks(context);
  const runner = createCommandRunner({ ...context, persistent });
  const input = {
    session_id: 'bench',
    cwd: project,
    hook_event_name: 'PreToolUse',
    tool_name: 'Bash',
    tool_input: { command: 'npm run build 2>&1 | tail -20' },
  };
  const request = () => ({
    input,
    json: JSON.stringify(input),
    cwd: project,
    signal: new AbortController().signal,
    timeoutMs: 60_000,
    agent: MAIN_AGENT,
  });
  const hook = (handler) => ({
    id: 'bench',
    event: 'PreToolUse',
    role: 'gate',
    handler: { type: 'command', ...handler },
    source: 'user',
    timeoutMs: 60_000,
    onFailure: 'block',
    label: 'bench',
  });

  /** Microseconds that every call pays for hooks that are not there. */
  const withoutHooks = async () => {
    const values = { get: () => undefined, list: () => [], said: () => [], has: () => false };
    const dispatch = createHookDispatch({}, captureHooks({ values }));
    const precheck = createHookPrecheck(dispatch, { ifRule: () => async () => true });
    const view = { call: { agent: MAIN_AGENT, toolUseId: 'x', input }, names: ['Bash'] };
    const times = [];
    for (let round = -1; round < 20; round++) {
      const start = performance.now();
      for (let call = 0; call < 10_000; call++) await precheck(view, { rewritten: false });
      if (round >= 0) times.push((performance.now() - start) / 10);
    }
    return Number(quantile(times, 0.5).toFixed(2));
  };

  const command = hook({ command: COMMAND });
  const spawned = { floor: [], hook: [] };
  // They take turns, so that load on the machine meets both; the first rounds fill caches.
  for (let round = -20; round < rounds; round++) {
    const into = round < 0 ? { floor: [], hook: [] } : spawned;
    const floor = () => timed(into.floor, () => bare(request().json));
    const ours = () => timed(into.hook, () => runner(command, request()));
    const order = round % 2 === 0 ? [floor, ours] : [ours, floor];
    for (const one of order) {
      const { exitCode } = await one();
      if (exitCode !== 0) throw new Error(`exit code ${exitCode}`);
    }
  }

  const lasting = hook({ command: process.execPath, args: ['echo.cjs'], persistent: true });
  const first = [];
  await timed(first, () => runner(lasting, request()));
  const warm = [];
  for (let round = -200; round < rounds * 10; round++) {
    const raw = await timed(round < 0 ? [] : warm, () => runner(lasting, request()));
    if (raw.kind !== 'value') throw new Error(JSON.stringify(raw));
  }
  await persistent.close();
  await processes.killAll();

  const report = {
    command: { floorMs: figures(spawned.floor), hookMs: figures(spawned.hook) },
    ratio: Number((quantile(spawned.hook, 0.5) / quantile(spawned.floor, 0.5)).toFixed(2)),
    persistent: { firstMs: Number(first[0].toFixed(1)), warmMs: figures(warm) },
    withoutHooksUs: await withoutHooks(),
    bars: BARS,
  };
  console.log(JSON.stringify(report, null, 2));
  const holds =
    report.ratio <= BARS.ratio &&
    report.persistent.warmMs.median <= BARS.persistentMs &&
    report.withoutHooksUs <= BARS.withoutHooksUs;
  process.exitCode = holds ? 0 : 1;
} finally {
  rmSync(work, { recursive: true, force: true });
  rmSync(project, { recursive: true, force: true });
}
