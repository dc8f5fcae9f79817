// node bench/projects.mjs [--rounds=25] [--only=full] [--check] [--json]: what a full project costs until the
// first request, beside an empty one. Projects take turns, so that load on the machine meets all of them.
import { fork, spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
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

const mock = fork(path.join(ROOT, 'bench/mock-model.mjs'));
const ask = (message) =>
  new Promise((resolve) => {
    mock.once('message', resolve);
    if (message !== undefined) mock.send(message);
  });
const { port } = await ask();

/** From the start of the process to the last byte of its first request. */
async function once(name) {
  await ask({ plan: { op: 'read', turns: 0, cwd: directories[name] } });
  const env = {
    PATH: `${path.dirname(process.execPath)}:/usr/local/bin:/usr/bin:/bin`,
    HOME: home,
    LANG: 'C.UTF-8',
    ANTHROPIC_BASE_URL: `http://127.0.0.1:${port}`,
    ANTHROPIC_API_KEY: 'bench',
  };
  const args = ['-p', 'go', '--model', 'claude-sonnet-4-5', '--trust'];
  const spawned = Number(process.hrtime.bigint());
  const child = spawn(path.join(ROOT, 'bin/portcullis'), args, {
    cwd: directories[name],
    env,
    stdio: 'ignore',
  });
  const code = await new Promise((resolve) => child.on('exit', resolve));
  const { records } = await ask({});
  if (code !== 0 || records.length !== 1)
    throw new Error(`${name}: exit ${code}, ${records.length} requests`);
  return { ms: (records[0].end - spawned) / 1e6, bytes: records[0].bytes };
}

const median = (values) => [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)];
const runs = Object.fromEntries(chosen.map((name) => [name, []]));
try {
  for (let round = -2; round < rounds; round++) {
    for (const name of [...chosen].sort(() => Math.random() - 0.5)) {
      const run = await once(name);
      // The first rounds fill caches and are not counted.
      if (round >= 0) runs[name].push(run);
    }
  }
} finally {
  mock.disconnect();
  rmSync(work, { recursive: true, force: true });
}

/** Neighbours in one round met the same load, so their difference says more than that of two medians. */
const against = (name, base, how) =>
  median(runs[name].map((run, round) => how(run.ms, runs[base][round].ms)));
const rows = [];
for (const name of ['full', 'deep', 'unconditional'].filter((one) => chosen.includes(one))) {
  const ratio = against(name, 'empty', (ours, empty) => ours / empty);
  rows.push({ name, beside: 'empty', value: ratio, bound: BARS.ratio, unit: '×' });
}
if (chosen.includes('many-agents')) {
  const added = against('many-agents', 'light', (ours, light) => ours - light);
  rows.push({
    name: 'many-agents',
    beside: 'light',
    value: added,
    bound: BARS.agentsMs,
    unit: 'ms more',
  });
}
if (chosen.includes('heavy')) {
  const added = against('heavy', 'light', (ours, light) => ours - light);
  rows.push({ name: 'heavy', beside: 'light', value: added, bound: BARS.heavyMs, unit: 'ms more' });
}
const ms = (name) => median(runs[name].map((run) => run.ms));
if (process.argv.includes('--json')) {
  const medians = Object.fromEntries(chosen.map((name) => [name, Number(ms(name).toFixed(2))]));
  console.log(JSON.stringify({ rounds, medians, rows }, null, 2));
} else {
  console.log(`Node ${process.version}, ${os.cpus().length} cores, ${rounds} rounds, medians\n`);
  console.log('| project | first request, ms | bytes |\n|---|---|---|');
  for (const name of chosen)
    console.log(`| ${name} | ${ms(name).toFixed(1)} | ${runs[name].at(-1).bytes} |`);
  console.log('\n| what | measured | bound | holds |\n|---|---|---|---|');
  for (const { name, beside, value, bound, unit } of rows) {
    const holds = value <= bound ? 'yes' : 'NO';
    console.log(
      `| ${name} beside ${beside} | ${value.toFixed(2)} ${unit} | ≤ ${bound} | ${holds} |`,
    );
  }
}
if (process.argv.includes('--check'))
  process.exitCode = rows.every(({ value, bound }) => value <= bound) ? 0 : 1;
