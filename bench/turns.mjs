// npm run bench: time to the first request, time of a turn, memory and request bytes against a model that answers at
// once. The options of bench/lib.mjs apply.
import path from 'node:path';
import { interleave, median, openBench, option, printTable, textFiles, writeTo } from './lib.mjs';

const rounds = Number(option('rounds', '7'));
const bench = await openBench();
const names = Object.keys(bench.builds);
const cwd = path.join(bench.root, 'project');
writeTo(cwd, textFiles(500));

const measure = (plan, count = rounds) =>
  interleave(
    count,
    bench.perBuild((program) =>
      bench.run({ program, cwd, plan, args: ['--allowedTools', 'Bash,Read'] }),
    ),
  );
const figures = (runs, pick) => names.map((name) => median(runs[name].map(pick)));

try {
  const cold = await measure({ op: 'Read', turns: 0 });
  const read = await measure({ op: 'Read', turns: 50, prefix: true });
  const bash = await measure({ op: 'Bash', turns: 50 });
  const long = await measure({ op: 'Read', turns: 500 }, Math.ceil(rounds / 2));
  const around = (turn) => (run) => median(run.gaps.slice(turn - 20, turn));
  const row = (what, values, digits, bound) => [
    what,
    ...values.map((value) => value.toFixed(digits)),
    bound,
  ];
  const perTurn = (run) => median(run.gaps);
  const start = figures(cold, ({ first }) => first);
  const memory = figures(read, (run) => run.memory);
  const bytes = figures(cold, ({ records }) => records[0].bytes);
  const later = figures(long, (run) => around(500)(run) / around(50)(run));
  printTable(
    rounds,
    ['what', ...names, 'bound'],
    [
      row('start to first request, ms', start, 0, 'peers'),
      row('Read turn, ms', figures(read, perTurn), 2, 'peers'),
      row('Bash turn, ms', figures(bash, perTurn), 2, 'peers'),
      row('Read at turn 500 ÷ turn 50', later, 2, '≤ 2'),
      row('peak memory of 50 Read turns, MB', memory, 0, 'peers'),
      row('first request, bytes', bytes, 0, '≤ 24000'),
      row('part of turn N that turn N+1 repeats', figures(read, stablePrefix), 3, '1.000'),
    ],
  );
} finally {
  bench.close();
}

function stablePrefix({ records }) {
  const shares = records.slice(1).map(({ hashed }, index) => {
    const before = records[index].hashed;
    let common = 0;
    while (common < before.length && before[common] === hashed[common]) common++;
    return common / before.length;
  });
  return Math.min(...shares);
}
