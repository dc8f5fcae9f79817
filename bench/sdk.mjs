// node bench/sdk.mjs [--sessions=1000 --turns=5 --reps=15 --no-official]: sessions of our SDK in one
// process, against bars: all complete, memory, and the time from query() to the first model request,
// beside the official SDK that starts a program for each.
import { fork } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { ensureBuilt, ensureInstalled, ROOT } from '../scripts/setup.mjs';

ensureInstalled();
ensureBuilt();
const option = (name, fallback) =>
  process.argv.find((arg) => arg.startsWith(`--${name}=`))?.split('=')[1] ?? fallback;
const sessions = Number(option('sessions', '1000'));
const turns = Number(option('turns', '5'));
const reps = Number(option('reps', '15'));
const BARS = { rssMb: 600, firstRequestMs: 10 };

const work = mkdtempSync(path.join(os.tmpdir(), 'portcullis-bench-sdk-'));
const project = path.join(work, 'project');
mkdirSync(project);
mkdirSync(path.join(work, 'home'));
for (let i = 0; i < 500; i++) writeFileSync(path.join(project, `f${i}.txt`), `file ${i}\n`);
const mock = fork(path.join(ROOT, 'bench/mock-model.mjs'));
const ask = (message) =>
  new Promise((resolve) => {
    mock.once('message', resolve);
    if (message !== undefined) mock.send(message);
  });
const { port } = await ask();
const env = {
  PATH: `${path.dirname(process.execPath)}:/usr/local/bin:/usr/bin:/bin`,
  HOME: path.join(work, 'home'),
  LANG: 'C.UTF-8',
  ANTHROPIC_BASE_URL: `http://127.0.0.1:${port}`,
  ANTHROPIC_API_KEY: 'bench',
};
const options = { cwd: project, env, model: 'claude-sonnet-4-5', settingSources: [] };
const now = () => Number(process.hrtime.bigint());
const median = (values) => [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)];
const mb = (bytes) => Math.round(bytes / 1048576);

const ours = await import(path.join(ROOT, 'dist/lib/index.js'));

async function drain(query) {
  let result;
  for await (const message of query) if (message.type === 'result') result = message;
  return result;
}

/** Milliseconds from query() until the model has the first request. */
async function firstRequest(query, more) {
  await ask({ plan: { op: 'read', turns: 0, cwd: project } });
  const began = now();
  await drain(query({ prompt: 'go', options: { ...options, ...more } }));
  const { records } = await ask({});
  return (records[0].end - began) / 1e6;
}

async function firstRequests(query, more = {}) {
  const times = [];
  for (let i = 0; i < reps; i++) times.push(await firstRequest(query, more));
  const warm = times.slice(Math.min(3, reps - 1));
  return { first: times[0], warm: median(warm), best: Math.min(...warm) };
}

async function many() {
  await ask({ plan: { op: 'read', turns: turns - 1, cwd: project } });
  let peak = 0;
  const watch = setInterval(() => {
    peak = Math.max(peak, process.memoryUsage.rss());
  }, 50);
  const began = now();
  const results = await Promise.allSettled(
    Array.from({ length: sessions }, () =>
      drain(ours.query({ prompt: 'go', options: { ...options, persistSession: false } })),
    ),
  );
  clearInterval(watch);
  const done = results.filter(
    ({ status, value }) =>
      status === 'fulfilled' && value?.subtype === 'success' && value.num_turns === turns,
  ).length;
  const failed = results.find(({ status }) => status === 'rejected');
  return {
    done,
    why: failed?.reason?.message,
    seconds: (now() - began) / 1e9,
    peak: Math.max(peak, process.memoryUsage.rss()),
  };
}

const single = await firstRequests(ours.query);
const unsaved = await firstRequests(ours.query, { persistSession: false });
const load = await many();
let spawned;
if (!process.argv.includes('--no-official')) {
  const official = await import('@anthropic-ai/claude-agent-sdk');
  spawned = await firstRequests(official.query, {
    pathToClaudeCodeExecutable: path.join(ROOT, 'bin/portcullis'),
  });
}
mock.disconnect();
rmSync(work, { recursive: true, force: true });

const rows = [
  ['query() to first request, warm', `${single.warm.toFixed(1)} ms`, `< ${BARS.firstRequestMs} ms`],
  ['the best of them', `${single.best.toFixed(1)} ms`, ''],
  ['without a transcript, warm', `${unsaved.warm.toFixed(1)} ms`, ''],
  ['the very first of the process', `${single.first.toFixed(1)} ms`, ''],
  ['official SDK, a process each', spawned ? `${spawned.warm.toFixed(1)} ms` : 'not run', ''],
  [`${sessions} sessions of ${turns} turns: complete`, `${load.done}`, `${sessions}`],
  ['their memory at most', `${mb(load.peak)} MB`, `< ${BARS.rssMb} MB`],
  ['their time', `${load.seconds.toFixed(1)} s`, ''],
];
for (const [what, value, bar] of rows) console.log(what.padEnd(44), value.padStart(12), bar);
if (load.why !== undefined) console.log(`first failure: ${load.why}`);
const held =
  load.done === sessions && mb(load.peak) < BARS.rssMb && single.warm < BARS.firstRequestMs;
process.exitCode = held ? 0 : 1;
