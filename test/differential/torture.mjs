// npm run torture: generated scripts are judged by the gate, and those that it allows run in a jail; their canonical
// forms are compared with them, and as many real programs with the effects foretold of them; see docs/testing.md.
//   npm run torture [minutes]                              of a seed that is printed; 10 minutes unless told otherwise
//   npm run torture -- --seed 7 --from 123 --scripts 1     these
import { fork } from 'node:child_process';
import { availableParallelism } from 'node:os';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { runTypeScript } from '../../scripts/setup.mjs';

/** Scripts that a worker takes at a time. */
const BATCH = 250;

if (process.send === undefined) await main();
else await work();

async function main() {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: {
      scripts: { type: 'string' },
      seed: { type: 'string', default: String(Date.now() % 1_000_000) },
      from: { type: 'string', default: '0' },
    },
  });
  const given = { ...values, minutes: positionals[0] ?? '10' };
  const numbers = Object.entries(given).map(([name, text]) => [name, Number(text)]);
  const wrong = numbers.find(([, value]) => !Number.isSafeInteger(value));
  if (wrong !== undefined) {
    console.error(`${wrong[0]} must be a whole number, not ${given[wrong[0]]}.`);
    process.exit(2);
  }
  const { seed, from, minutes, scripts = Number.MAX_SAFE_INTEGER } = Object.fromEntries(numbers);
  const until = values.scripts === undefined ? Date.now() + minutes * 60_000 : Infinity;
  console.log(`seed ${seed}, from script ${from}`);
  const total = {
    generated: 0,
    run: 0,
    hung: 0,
    allowed: {},
    findings: [],
    forms: {},
    programs: {},
  };
  let next = from;
  const takeBatch = () => {
    if (Date.now() > until || next >= from + scripts) return 'end';
    const batch = { seed, from: next, scripts: Math.min(BATCH, from + scripts - next) };
    next += batch.scripts;
    return batch;
  };
  const workers = Array.from({ length: Math.min(4, availableParallelism()) });
  await Promise.all(workers.map(() => runWorker(takeBatch, (part) => add(total, part))));
  console.log(
    `generated ${total.generated}, run ${total.run}, ended after a time-out ${total.hung}`,
  );
  for (const [name, count] of Object.entries(total.allowed))
    console.log(`allowed under ${name}: ${count}`);
  console.log(`canonical forms: ${countsText(total.forms)}`);
  console.log(`programs under strace: ${countsText(total.programs)}`);
  console.log(`findings: ${total.findings.length}`);
  process.exitCode = total.findings.length > 0 ? 1 : 0;
}

function runWorker(takeBatch, report) {
  return new Promise((resolve, reject) => {
    const worker = fork(fileURLToPath(import.meta.url));
    worker.on('message', (part) => {
      if (part !== 'ready') report(part);
      worker.send(takeBatch());
    });
    worker.on('error', reject);
    worker.on('exit', (code) =>
      code === 0 ? resolve() : reject(new Error(`a worker ended with ${code}`)),
    );
  });
}

async function work() {
  const module = await runTypeScript('test/differential/torture.ts');
  const torture = module.openTorture();
  process.on('message', async (batch) => {
    if (batch === 'end') {
      torture.close();
      process.disconnect();
      return;
    }
    process.send(await torture.run({ ...batch, most: BATCH }));
  });
  process.send('ready');
}

function countsText(counts) {
  return Object.entries(counts)
    .map(([name, count]) => `${name} ${count}`)
    .join(', ');
}

function add(total, part) {
  const thousands = Math.floor(total.generated / 1_000);
  for (const name of ['generated', 'run', 'hung']) total[name] += part[name];
  for (const [name, count] of Object.entries(part.allowed))
    total.allowed[name] = (total.allowed[name] ?? 0) + count;
  for (const kind of ['forms', 'programs'])
    for (const [name, count] of Object.entries(part[kind]))
      total[kind][name] = (total[kind][name] ?? 0) + count;
  for (const finding of part.findings) {
    const { index, ruleSet, problem, script } = finding;
    total.findings.push(finding);
    console.log(`${index ?? '-'} ${ruleSet}: ${problem}\n  ${JSON.stringify(script)}`);
  }
  if (Math.floor(total.generated / 1_000) > thousands) console.log(`… ${total.generated} scripts`);
}
