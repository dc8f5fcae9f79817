// node bench/agents.mjs [--fan=200 --turns=10 --reps=3] [--json] [--check] [--profile=dir]: many agents at
// once in one process, against the bare-Node floor for the same exchanges. --check fails over the bounds.
import { fork, spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { ensureBuilt, ensureInstalled, ROOT } from '../scripts/setup.mjs';

ensureInstalled();
ensureBuilt();
const option = (name, fallback) =>
  process.argv.find((arg) => arg.startsWith(`--${name}=`))?.split('=')[1] ?? fallback;
const fan = Number(option('fan', '200'));
const turns = Number(option('turns', '10'));
const reps = Number(option('reps', '3'));
const profile = option('profile', '');
const BOUNDS = { ratio: 2, rssMb: 400 };
const PROGRAMS = {
  floor: [process.execPath, path.join(ROOT, 'bench/agents-floor.mjs')],
  portcullis: [
    ...(profile === '' ? [] : [process.execPath, '--cpu-prof', `--cpu-prof-dir=${profile}`]),
    path.join(ROOT, 'bin/portcullis'),
    '-p',
    'BENCHMAIN: start them.',
    '--model',
    'claude-sonnet-4-5',
    '--allowedTools',
    'Read,Agent',
  ],
};

const work = mkdtempSync(path.join(os.tmpdir(), 'portcullis-bench-agents-'));
const project = path.join(work, 'project');
mkdirSync(project);
for (let i = 0; i < turns; i++)
  writeFileSync(
    path.join(project, `f${i}.txt`),
    `file ${i}\n${`line of text in file ${i}\n`.repeat(8)}`,
  );
const model = fork(path.join(ROOT, 'bench/agents-model.mjs'));
const ask = (message) =>
  new Promise((resolve) => {
    model.once('message', resolve);
    if (message !== undefined) model.send(message);
  });
const { port } = await ask();

async function once(name) {
  await ask({ plan: { fan, turns, cwd: project } });
  const home = path.join(work, `home-${name}`);
  mkdirSync(home, { recursive: true });
  const [command, ...args] = PROGRAMS[name];
  const started = process.hrtime.bigint();
  const child = spawn(command, args, {
    cwd: project,
    stdio: ['ignore', 'ignore', 'inherit'],
    env: {
      PATH: `${path.dirname(process.execPath)}:/usr/local/bin:/usr/bin:/bin`,
      HOME: home,
      LANG: 'C.UTF-8',
      ANTHROPIC_BASE_URL: `http://127.0.0.1:${port}`,
      ANTHROPIC_API_KEY: 'bench',
      CLAUDE_CODE_MAX_CONCURRENT_SUBAGENTS: String(fan + 10),
    },
  });
  let rss = 0;
  let cpu = 0;
  const sample = setInterval(() => {
    try {
      const status = readFileSync(`/proc/${child.pid}/status`, 'utf8');
      rss = Math.max(rss, Number(/VmHWM:\s+(\d+)/.exec(status)?.[1] ?? 0));
      // Of all its threads, in hundredths of a second: user and system.
      const [used, system] = readFileSync(`/proc/${child.pid}/stat`, 'utf8')
        .split(') ')[1]
        .split(' ')
        .slice(11, 13);
      cpu = Math.max(cpu, (Number(used) + Number(system)) * 10);
    } catch {
      // The process is gone; the last sample stands.
    }
  }, 10);
  const code = await new Promise((resolve) => child.on('exit', resolve));
  const wall = Number(process.hrtime.bigint() - started) / 1e6;
  clearInterval(sample);
  const { seen } = await ask({});
  const whole = seen.main === 2 && seen.agents === fan * (turns + 1) && seen.done === fan;
  if (code !== 0 || !whole) throw new Error(`${name}: exit ${code}, ${JSON.stringify(seen)}`);
  return { wall, cpu, rss: rss / 1024, kb: seen.bytes / 1024 };
}

const median = (values) => [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)];
const runs = Object.fromEntries(Object.keys(PROGRAMS).map((name) => [name, []]));
try {
  // One more round, which fills caches and is not counted.
  for (let rep = -1; rep < reps; rep++) {
    for (const name of Object.keys(PROGRAMS).sort(() => Math.random() - 0.5)) {
      const run = await once(name);
      if (rep >= 0) runs[name].push(run);
    }
  }
} finally {
  model.disconnect();
  rmSync(work, { recursive: true, force: true });
}

const of = (name, what) => median(runs[name].map((run) => run[what]));
const ratio = of('portcullis', 'wall') / of('floor', 'wall');
const rss = Math.max(...runs.portcullis.map((run) => run.rss));
const rows = [
  {
    what: `${fan} agents of ${turns} calls, wall, beside the floor`,
    value: ratio,
    unit: '×',
    bound: BOUNDS.ratio,
  },
  { what: 'most memory', value: rss, unit: 'MB', bound: BOUNDS.rssMb },
];
if (process.argv.includes('--json')) {
  console.log(JSON.stringify({ fan, turns, runs, rows }, null, 2));
} else {
  console.log(`Node ${process.version}, ${os.cpus().length} cores, ${reps} rounds, medians\n`);
  console.log(
    '| program | wall, ms | processor, ms | memory, MB | sent, KB |\n|---|---|---|---|---|',
  );
  for (const name of Object.keys(PROGRAMS)) {
    const figures = ['wall', 'cpu', 'rss', 'kb'].map((what) => of(name, what).toFixed(0));
    console.log(`| ${name} | ${figures.join(' | ')} |`);
  }
  console.log('\n| what | measured | bound | holds |\n|---|---|---|---|');
  for (const { what, value, unit, bound } of rows)
    console.log(
      `| ${what} | ${value.toFixed(2)} ${unit} | ≤ ${bound} | ${value <= bound ? 'yes' : 'NO'} |`,
    );
}
if (process.argv.includes('--check'))
  process.exitCode = rows.every(({ value, bound }) => value <= bound) ? 0 : 1;
