// npm run bench [-- --reps=9 --markdown]: what the runtime costs on top of the model, as ratios to the
// bare-Node floor of the same run. Programs take turns, so that load on the machine meets both.
import { fork, spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { ensureBuilt, ensureInstalled, ROOT } from '../scripts/setup.mjs';

ensureInstalled();
ensureBuilt();
const option = (name, fallback) =>
  process.argv.find((arg) => arg.startsWith(`--${name}=`))?.split('=')[1] ?? fallback;
const reps = Number(option('reps', '7'));
const PROGRAMS = {
  floor: [process.execPath, path.join(ROOT, 'bench/floor.mjs')],
  portcullis: [
    path.join(ROOT, 'bin/portcullis'),
    '-p',
    'go',
    '--model',
    'claude-sonnet-4-5',
    '--allowedTools',
    'Bash,Read',
  ],
};
const SCENARIOS = {
  cold: { op: 'read', turns: 0 },
  read50: { op: 'read', turns: 50, prefix: true },
  bash50: { op: 'bash', turns: 50 },
  read500: { op: 'read', turns: 500 },
};
const median = (values) => [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)];

const work = mkdtempSync(path.join(os.tmpdir(), 'portcullis-bench-'));
const project = path.join(work, 'project');
mkdirSync(project);
for (let i = 0; i < 500; i++)
  writeFileSync(
    path.join(project, `f${i}.txt`),
    `file ${i}\n${`line of text in file ${i}\n`.repeat(8)}`,
  );
const mock = fork(path.join(ROOT, 'bench/mock-model.mjs'));
const ask = (message) =>
  new Promise((resolve) => {
    mock.once('message', resolve);
    if (message !== undefined) mock.send(message);
  });
const { port } = await ask();

async function once(name, scenario) {
  await ask({ plan: { ...SCENARIOS[scenario], cwd: project } });
  const home = path.join(work, `home-${name}`);
  mkdirSync(home, { recursive: true });
  const env = {
    PATH: `${path.dirname(process.execPath)}:/usr/local/bin:/usr/bin:/bin`,
    HOME: home,
    LANG: 'C.UTF-8',
    ANTHROPIC_BASE_URL: `http://127.0.0.1:${port}`,
    ANTHROPIC_API_KEY: 'bench',
  };
  const [command, ...args] = PROGRAMS[name];
  const spawned = Number(process.hrtime.bigint());
  const child = spawn(command, args, { cwd: project, env, stdio: 'ignore' });
  let rss = 0;
  const sample = setInterval(() => {
    try {
      rss = Math.max(
        rss,
        Number(/VmHWM:\s+(\d+)/.exec(readFileSync(`/proc/${child.pid}/status`, 'utf8'))?.[1] ?? 0),
      );
    } catch {
      // The process is gone; the last sample stands.
    }
  }, 10);
  const code = await new Promise((resolve) => child.on('exit', resolve));
  clearInterval(sample);
  const { records } = await ask({});
  if (code !== 0 || records.length !== SCENARIOS[scenario].turns + 1)
    throw new Error(`${name} ${scenario}: exit ${code}, ${records.length} requests`);
  const gaps = records.slice(1).map((record, i) => (record.end - records[i].last) / 1e6);
  return { cold: (records[0].end - spawned) / 1e6, gaps, rss: rss / 1024, records };
}

function prefixRatio(records) {
  let least = 1;
  for (let i = 1; i < records.length; i++) {
    const [before, after] = [records[i - 1].hashed, records[i].hashed];
    let common = 0;
    while (common < before.length && before[common] === after[common]) common++;
    least = Math.min(least, common / before.length);
  }
  return least;
}

const results = Object.fromEntries(
  Object.keys(SCENARIOS).map((scenario) => [
    scenario,
    Object.fromEntries(Object.keys(PROGRAMS).map((name) => [name, []])),
  ]),
);
for (const scenario of Object.keys(SCENARIOS)) {
  for (let rep = -1; rep < (scenario === 'read500' ? Math.ceil(reps / 2) : reps); rep++) {
    for (const name of Object.keys(PROGRAMS).sort(() => Math.random() - 0.5)) {
      const run = await once(name, scenario);
      // The first round fills caches and is not counted.
      if (rep >= 0) results[scenario][name].push(run);
    }
  }
}
mock.disconnect();
rmSync(work, { recursive: true, force: true });

const over = (scenario, pick) =>
  Object.fromEntries(
    Object.keys(PROGRAMS).map((name) => [name, median(results[scenario][name].map(pick))]),
  );
const around = (turn) => (run) => median(run.gaps.slice(turn - 20, turn));
const rows = [];
const ratio = (label, values, limit) =>
  rows.push([
    label,
    values.floor.toFixed(2),
    values.portcullis.toFixed(2),
    (values.portcullis / values.floor).toFixed(2),
    `≤ ${limit}`,
    values.portcullis / values.floor <= limit,
  ]);
const figure = (label, value, digits, limit, holds) =>
  rows.push([label, '', value.toFixed(digits), '', limit, holds]);
ratio(
  'spawn → first request, ms',
  over('cold', (run) => run.cold),
  2,
);
ratio(
  'Read turn (50 turns), ms',
  over('read50', (run) => median(run.gaps)),
  3,
);
ratio(
  'Bash turn (50 turns), ms',
  over('bash50', (run) => median(run.gaps)),
  3,
);
const at50 = over('read500', around(50)).portcullis;
const at500 = over('read500', around(500)).portcullis;
rows.push([
  'Read turn at turn 500 ÷ turn 50',
  '',
  `${at500.toFixed(2)} ÷ ${at50.toFixed(2)}`,
  (at500 / at50).toFixed(2),
  '≤ 2',
  at500 / at50 <= 2,
]);
const lcp = Math.min(...results.read50.portcullis.map((run) => prefixRatio(run.records)));
figure('prefix of turn N+1 that turn N is (least)', lcp, 3, '= 1', lcp === 1);
const rss = median(results.read50.portcullis.map((run) => run.rss));
figure('peak memory, 50 turns, MB', rss, 0, '≤ 120', rss <= 120);
const first = results.cold.portcullis[0].records[0].bytes;
figure('first request, bytes', first, 0, '≤ 24000', first <= 24_000);

console.log(`Node ${process.version}, ${os.cpus().length} cores, ${reps} rounds, medians\n`);
console.log('| what | floor | portcullis | ratio | bound | holds |\n|---|---|---|---|---|---|');
for (const [label, floor, ours, times, bound, holds] of rows)
  console.log(`| ${label} | ${floor} | ${ours} | ${times} | ${bound} | ${holds ? 'yes' : 'NO'} |`);
process.exitCode = rows.every((row) => row[5]) ? 0 : 1;
