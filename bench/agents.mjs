// node bench/agents.mjs [--fan=200 --turns=10]: many agents at once in one process. The bound is 0.4 times the wall time
// of the only peer that can do it (scenario fan200 of the performance lab). The options of bench/lib.mjs apply.
import path from 'node:path';
import { interleave, median, openBench, option, printTable, textFiles, writeTo } from './lib.mjs';

const rounds = Number(option('rounds', '3'));
const fan = Number(option('fan', '200'));
const turns = Number(option('turns', '10'));
const bench = await openBench();
const cwd = path.join(bench.root, 'project');
writeTo(cwd, textFiles(turns));
const env = { CLAUDE_CODE_MAX_CONCURRENT_SUBAGENTS: String(fan + 10) };
const args = ['--allowedTools', 'Read,Agent'];
const plan = { op: 'Read', turns, fan };

async function once(program) {
  const run = await bench.run({ program, cwd, plan, args, env });
  const byAgents = run.records.filter(({ isAgent }) => isAgent);
  const ended = byAgents.filter(({ isLast }) => isLast).length;
  if (byAgents.length !== fan * (turns + 1) || ended !== fan)
    throw new Error(`${ended} of ${fan} agents ended, after ${byAgents.length} requests`);
  return run;
}

try {
  const runs = await interleave(rounds, bench.perBuild(once));
  const of = (name, what) => median(runs[name].map((run) => run[what])).toFixed(0);
  printTable(
    rounds,
    [`${fan} agents of ${turns} calls`, 'wall, ms', 'peak memory, MB'],
    Object.keys(runs).map((name) => [name, of(name, 'wall'), of(name, 'memory')]),
  );
} finally {
  bench.close();
}
