// node bench/projects.mjs [--rounds=25] [--only=full] [--check] [--json]: what a full project costs until the
// first request, beside an empty one. Projects take turns, so that load on the machine meets all of them.
// The bounds are for a project that was started before; the very first start, which has to read every
// file, is measured too. What follows "rewritten" is a start right after every file of the project was
// written anew, as a checkout does: nothing that was remembered holds, and nothing new is remembered yet.
import { spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import http from 'node:http';
import os from 'node:os';
import path from 'node:path';
import { ensureBuilt, ensureInstalled, ROOT } from '../scripts/setup.mjs';

ensureInstalled();
ensureBuilt();
const option = (name, fallback) =>
  process.argv.find((arg) => arg.startsWith(`--${name}=`))?.split('=')[1] ?? fallback;
const rounds = Number(option('rounds', '25'));
const only = option('only', '');
/** Bounds that must hold: times of an empty project, and milliseconds above a light one. */
const BARS = { ratio: 1.3, heavyMs: 15, agentsMs: 10 };
const SENTENCE = 'Do the steps in order and report what was found. ';

const work = mkdtempSync(path.join(os.tmpdir(), 'portcullis-projects-'));
const write = (file, text) => {
  mkdirSync(path.dirname(file), { recursive: true });
  writeFileSync(file, text);
};
const each = (count, make) => Array.from({ length: count }, (_, i) => make(i));

function skills(directory, count) {
  each(count, (i) =>
    write(
      path.join(directory, `.claude/skills/skill-${i}/SKILL.md`),
      `---\nname: skill-${i}\ndescription: Skill number ${i}. Use it when topic ${i} of the catalogue comes up.\n---\n\n# Skill ${i}\n\n${SENTENCE.repeat(20)}\n`,
    ),
  );
}

function agents(directory, count) {
  each(count, (i) =>
    write(
      path.join(directory, `.claude/agents/agent-${i}.md`),
      `---\nname: agent-${i}\ndescription: Agent number ${i}. Use it for tasks of kind ${i}.\n---\n\nYou are agent ${i}. ${SENTENCE.repeat(10)}\n`,
    ),
  );
}

/** Every rule file waits for files of its own folder, or none does. */
function ruleFiles(directory, count, { waiting }) {
  each(count, (i) =>
    write(
      path.join(directory, `.claude/rules/area-${i % 10}/rule-${i}.md`),
      `${waiting ? `---\npaths: src/area-${i}/**/*.ts\n---\n` : ''}# Rule ${i}\n\n${SENTENCE.repeat(4)}\n`,
    ),
  );
}

function settings(directory, rules) {
  const allow = ['Read', 'Bash', 'Agent', 'Task'];
  const deny = [];
  for (let i = 0; i < rules; i++) {
    (i % 5 === 0 ? deny : allow).push(i % 2 === 0 ? `Read(./dir${i}/**)` : `Bash(tool${i} sub *)`);
  }
  write(
    path.join(directory, '.claude/settings.json'),
    JSON.stringify({ permissions: { allow, deny } }),
  );
}

/** What stands in each project; gives the directory to start in. */
const PROJECTS = {
  empty: (at) => at,
  full(at) {
    skills(at, 500);
    ruleFiles(at, 300, { waiting: true });
    mkdirSync(below(at), { recursive: true });
    return at;
  },
  // Started at the bottom: every directory on the way is looked at.
  deep: (at) => {
    PROJECTS.full(at);
    return below(at);
  },
  // All 300 go to the model, so all of them have to be read.
  unconditional(at) {
    skills(at, 500);
    ruleFiles(at, 300, { waiting: false });
    mkdirSync(below(at), { recursive: true });
    return at;
  },
  light(at) {
    settings(at, 0);
    return at;
  },
  'many-agents': (at) => {
    agents(at, 100);
    settings(at, 0);
    return at;
  },
  heavy(at) {
    skills(at, 200);
    agents(at, 100);
    settings(at, 500);
    return at;
  },
};
const below = (at) => path.join(at, ...each(40, (i) => `level-${i}`));

const chosen = Object.keys(PROJECTS).filter(
  (name) => only === '' || name === 'empty' || name === 'light' || only.split(',').includes(name),
);
const directories = Object.fromEntries(
  chosen.map((name) => {
    const at = path.join(work, name);
    // A repository, so that all levels up to here are the project's.
    write(path.join(at, '.git/HEAD'), 'ref: refs/heads/main\n');
    mkdirSync(path.join(at, '.git/objects'));
    mkdirSync(path.join(at, '.git/refs'));
    return [name, PROJECTS[name](at)];
  }),
);
const home = path.join(work, 'home');
mkdirSync(home);

/** What the process has used so far, all its threads; undefined where the system does not say. */
function cpuMs(pid) {
  try {
    const threads = readdirSync(`/proc/${pid}/task`);
    const used = (thread) =>
      readFileSync(`/proc/${pid}/task/${thread}/schedstat`, 'utf8').split(' ')[0];
    return threads.reduce((sum, thread) => sum + Number(used(thread)), 0) / 1e6;
  } catch {
    return undefined;
  }
}

const ANSWER = [
  {
    type: 'message_start',
    message: {
      id: 'msg_1',
      type: 'message',
      role: 'assistant',
      model: 'bench',
      content: [],
      stop_reason: null,
      stop_sequence: null,
      usage: { input_tokens: 10, output_tokens: 1 },
    },
  },
  { type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } },
  { type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: 'done' } },
  { type: 'content_block_stop', index: 0 },
  {
    type: 'message_delta',
    delta: { stop_reason: 'end_turn', stop_sequence: null },
    usage: { output_tokens: 2 },
  },
  { type: 'message_stop' },
]
  .map((event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`)
  .join('');

let running;
/** Answers at once. This process has nothing else to do while the other one starts. */
const server = http.createServer((request, response) => {
  let bytes = 0;
  request.on('data', (chunk) => {
    bytes += chunk.length;
  });
  request.on('end', () => {
    running.requests.push({ at: process.hrtime.bigint(), cpu: cpuMs(running.pid), bytes });
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    response.end(ANSWER);
  });
});
await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
const { port } = server.address();

/** From the start of the process to the last byte of its first request. */
async function once(name) {
  const env = {
    PATH: `${path.dirname(process.execPath)}:/usr/local/bin:/usr/bin:/bin`,
    HOME: home,
    LANG: 'C.UTF-8',
    ANTHROPIC_BASE_URL: `http://127.0.0.1:${port}`,
    ANTHROPIC_API_KEY: 'bench',
  };
  const args = ['-p', 'go', '--model', 'claude-sonnet-4-5', '--trust'];
  const spawned = process.hrtime.bigint();
  const child = spawn(path.join(ROOT, 'bin/portcullis'), args, {
    cwd: directories[name],
    env,
    stdio: 'ignore',
  });
  running = { pid: child.pid, requests: [] };
  const code = await new Promise((resolve) => child.on('exit', resolve));
  const [first, ...others] = running.requests;
  if (code !== 0 || first === undefined || others.length > 0)
    throw new Error(`${name}: exit ${code}, ${running.requests.length} requests`);
  return { ms: Number(first.at - spawned) / 1e6, cpu: first.cpu, bytes: first.bytes };
}

const median = (values) => [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)];
const shuffled = () => [...chosen].sort(() => Math.random() - 0.5);
const runs = Object.fromEntries(chosen.map((name) => [name, []]));
const firsts = Object.fromEntries(chosen.map((name) => [name, []]));
const rewritten = Object.fromEntries(chosen.map((name) => [name, []]));
try {
  // Of files that were written this moment nothing is remembered.
  await new Promise((resolve) => setTimeout(resolve, 2_500));
  // One more, which fills the caches of the disk and is not counted.
  for (let round = -1; round < Math.min(rounds, 5); round++) {
    for (const name of shuffled()) {
      rmSync(path.join(home, '.portcullis/files'), { recursive: true, force: true });
      const run = await once(name);
      if (round >= 0) firsts[name].push(run);
    }
  }
  for (let round = -1; round < rounds; round++) {
    for (const name of shuffled()) {
      const run = await once(name);
      if (round >= 0) runs[name].push(run);
    }
  }
  for (let round = -1; round < Math.min(rounds, 9); round++) {
    for (const name of shuffled()) {
      PROJECTS[name](path.join(work, name));
      const run = await once(name);
      if (round >= 0) rewritten[name].push(run);
    }
  }
} finally {
  server.close();
  rmSync(work, { recursive: true, force: true });
}

/** Neighbours in one round met the same load, so their difference says more than that of two medians. */
const against = (name, base, how, { from = runs, what = 'ms' } = {}) =>
  median(from[name].map((run, round) => how(run[what], from[base][round][what])));
const rows = [];
for (const name of ['full', 'deep', 'unconditional'].filter((one) => chosen.includes(one))) {
  const beside = (options) => against(name, 'empty', (ours, empty) => ours / empty, options);
  const cpu = beside({ what: 'cpu' });
  const first = beside({ from: firsts });
  rows.push({ name, beside: 'empty', value: beside(), cpu, first, bound: BARS.ratio, unit: '×' });
}
const ABOVE_LIGHT = { 'many-agents': BARS.agentsMs, heavy: BARS.heavyMs };
for (const [name, bound] of Object.entries(ABOVE_LIGHT)) {
  if (!chosen.includes(name)) continue;
  const added = (options) => against(name, 'light', (ours, light) => ours - light, options);
  const cpu = added({ what: 'cpu' });
  const first = added({ from: firsts });
  rows.push({ name, beside: 'light', value: added(), cpu, first, bound, unit: 'ms more' });
}
if (chosen.includes('heavy')) {
  const added = (options) =>
    against('heavy', 'light', (ours, light) => ours - light, { from: rewritten, ...options });
  const [value, cpu] = [added(), added({ what: 'cpu' })];
  const unit = 'ms more';
  rows.push({ name: 'heavy, rewritten', beside: 'light', value, cpu, bound: BARS.heavyMs, unit });
}
const ms = (name, from = runs) => median(from[name].map((run) => run.ms));
const cpu = (name) => median(runs[name].map((run) => run.cpu ?? Number.NaN));
const shown = (value) => (Number.isFinite(value) ? value.toFixed(2) : '–');
if (process.argv.includes('--json')) {
  const medians = Object.fromEntries(chosen.map((name) => [name, Number(ms(name).toFixed(2))]));
  console.log(JSON.stringify({ rounds, medians, rows }, null, 2));
} else {
  console.log(`Node ${process.version}, ${os.cpus().length} cores, ${rounds} rounds, medians\n`);
  console.log(
    '| project | first request, ms | its processor time, ms | very first start, ms | rewritten, ms | bytes |',
  );
  console.log('|---|---|---|---|---|---|');
  for (const name of chosen) {
    const all = [ms(name), cpu(name), ms(name, firsts), ms(name, rewritten)];
    const times = all.map((value) => value.toFixed(1));
    console.log(`| ${name} | ${times.join(' | ')} | ${runs[name].at(-1).bytes} |`);
  }
  console.log('\n| what | measured | in processor time | very first start | bound | holds |');
  console.log('|---|---|---|---|---|---|');
  for (const { name, beside, value, bound, unit, ...others } of rows) {
    const holds = value <= bound ? 'yes' : 'NO';
    const all = [`${shown(value)} ${unit}`, shown(others.cpu), shown(others.first ?? Number.NaN)];
    console.log(`| ${name} beside ${beside} | ${all.join(' | ')} | ≤ ${bound} | ${holds} |`);
  }
}
if (process.argv.includes('--check'))
  process.exitCode = rows.every(({ value, bound }) => value <= bound) ? 0 : 1;
