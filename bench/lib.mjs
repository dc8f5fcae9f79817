// What the benches share: a model, a project, runs of the program that take turns, and a table.
//   --rounds=7                  how often; the first round fills caches and is not counted
//   --beside=path/bin/portcullis   another build, measured in turns with this one
import { fork, spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { ensureBuilt, ensureInstalled, ROOT } from '../scripts/setup.mjs';

export function option(name, fallback) {
  const given = process.argv.find((word) => word.startsWith(`--${name}=`));
  return given === undefined ? fallback : given.slice(name.length + 3);
}

export function median(values) {
  return [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)];
}

/**
 * Opens a bench: `run` starts a build once in a project, `perBuild` makes a variant of each build; `close` ends the model
 * and removes all files.
 */
export async function openBench() {
  ensureInstalled();
  ensureBuilt();
  const root = mkdtempSync(path.join(os.tmpdir(), 'portcullis-bench-'));
  const model = fork(path.join(ROOT, 'bench/model.mjs'));
  const ask = (message) =>
    new Promise((resolve) => {
      model.once('message', resolve);
      if (message !== undefined) model.send(message);
    });
  const { port } = await ask();
  const home = path.join(root, 'home');
  mkdirSync(home);
  const environment = {
    PATH: process.env.PATH,
    HOME: home,
    LANG: 'C.UTF-8',
    ANTHROPIC_BASE_URL: `http://127.0.0.1:${port}`,
    ANTHROPIC_API_KEY: 'bench',
  };
  const beside = option('beside');
  const builds = { now: path.join(ROOT, 'bin/portcullis'), ...(beside && { beside }) };
  return {
    root,
    environment,
    builds,
    plan: (plan) => ask({ plan }),
    perBuild: (run) =>
      Object.fromEntries(
        Object.entries(builds).map(([name, program]) => [name, () => run(program)]),
      ),
    async run({ program, cwd, plan, args = [], env = {} }) {
      await ask({ plan: { ...plan, cwd } });
      const spawned = Number(process.hrtime.bigint());
      const flags = ['-p', 'go', '--model', 'claude-sonnet-4-5', '--trust', ...args];
      const child = spawn(process.execPath, [path.resolve(program), ...flags], {
        cwd,
        stdio: 'ignore',
        env: { ...environment, ...env },
      });
      let memory = 0;
      const sampling = setInterval(() => {
        memory = Math.max(memory, peakMemory(child.pid));
      }, 10);
      const code = await new Promise((resolve) => child.on('exit', resolve));
      const wall = (Number(process.hrtime.bigint()) - spawned) / 1e6;
      clearInterval(sampling);
      const { records } = await ask({});
      if (code !== 0) throw new Error(`${program}: exit ${code} after ${records.length} requests`);
      const first = (records[0].end - spawned) / 1e6;
      const gaps = records.slice(1).map(({ end }, index) => (end - records[index].answered) / 1e6);
      return { first, gaps, wall, memory, records };
    },
    close() {
      model.disconnect();
      rmSync(root, { recursive: true, force: true });
    },
  };
}

/** Runs every variant in each round, in random order, so that load on the machine meets all of them. */
export async function interleave(rounds, variants) {
  const runs = Object.fromEntries(Object.keys(variants).map((name) => [name, []]));
  for (let round = -1; round < rounds; round++)
    for (const name of Object.keys(variants).sort(() => Math.random() - 0.5)) {
      const run = await variants[name]();
      if (round >= 0) runs[name].push(run);
    }
  return runs;
}

export function writeTo(directory, files) {
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(path.dirname(path.join(directory, name)), { recursive: true });
    writeFileSync(path.join(directory, name), text);
  }
}

/** The files that the model reads. */
export function textFiles(count) {
  const text = (index) => `file ${index}\n${`line of text in file ${index}\n`.repeat(8)}`;
  return Object.fromEntries(
    Array.from({ length: count }, (_, index) => [`f${index}.txt`, text(index)]),
  );
}

export function printTable(rounds, head, rows) {
  console.log(`Node ${process.version}, ${os.cpus().length} cores, ${rounds} rounds, medians\n`);
  for (const row of [head, head.map(() => '---'), ...rows]) console.log(`| ${row.join(' | ')} |`);
}

/** Megabytes. */
function peakMemory(pid) {
  try {
    return Number(/VmHWM:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))[1]) / 1024;
  } catch {
    return 0; // The process has ended; the last sample counts.
  }
}
