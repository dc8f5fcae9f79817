// npm run torture: generated scripts are judged by the gate, and those that it allows run in a jail; see docs/testing.md.
//   npm run torture                                  50,000 scripts of a seed that is printed
//   npm run torture -- --scripts 2000 --seed 7       these
//   npm run torture -- --seed 7 --from 123 --scripts 1
import { fork } from 'node:child_process';
import { availableParallelism } from 'node:os';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { runTypeScript } from './run-ts.mjs';

/** Scripts that a worker takes at a time. */
const BATCH = 250;

if (process.send === undefined) await main();
else await work();

async function main() {
  const { values } = parseArgs({
    options: {
      scripts: { type: 'string', default: '50000' },
      seed: { type: 'string', default: String(Date.now() % 1_000_000) },
      from: { type: 'string', default: '0' },
      workers: { type: 'string', default: String(Math.min(4, availableParallelism())) },
    },
  });
  const numbers = Object.fromEntries(
    Object.entries(values).map(([key, text]) => [key, Number(text)]),
  );
  const wrong = Object.keys(numbers).find((key) => !Number.isSafeInteger(numbers[key]));
  if (wrong !== undefined) {
    console.error(`--${wrong} takes a whole number, not ${values[wrong]}.`);
    process.exit(2);
  }
  const { seed, from, scripts, workers } = numbers;
  console.log(`seed ${seed}, scripts ${from} to ${from + scripts - 1}`);
  const total = { generated: 0, run: 0, hung: 0, allowed: {}, findings: [] };
  let next = from;
  const takeBatch = () => {
    const batch = { seed, from: next, scripts: Math.min(BATCH, from + scripts - next) };
    next += batch.scripts;
    return batch;
  };
  await Promise.all(
    Array.from({ length: workers }, () => runWorker(takeBatch, (part) => add(total, part))),
  );
  console.log(
    `generated ${total.generated}, run ${total.run}, ended after a time-out ${total.hung}`,
  );
  for (const [name, count] of Object.entries(total.allowed))
    console.log(`allowed under ${name}: ${count}`);
  console.log(`findings: ${total.findings.length}`);
  process.exitCode = total.findings.length > 0 ? 1 : 0;
}

function runWorker(takeBatch, report) {
  return new Promise((resolve, reject) => {
    const worker = fork(fileURLToPath(import.meta.url));
    const give = () => {
      const batch = takeBatch();
      worker.send(batch.scripts > 0 ? batch : 'end');
    };
    worker.on('message', (part) => {
      if (part !== 'ready') report(part);
      give();
    });
    worker.on('error', reject);
    worker.on('exit', (code) =>
      code === 0 ? resolve() : reject(new Error(`a worker ended with ${code}`)),
    );
  });
}

async function work() {
  const { openDifferential, runDifferential } = await runTypeScript(
    'test/differential/differential.ts',
  );
  const differential = openDifferential();
  process.on('message', async (batch) => {
    if (batch === 'end') {
      differential.close();
      process.disconnect();
      return;
    }
    process.send(await runDifferential(differential, { ...batch, most: BATCH }));
  });
  process.send('ready');
}

function add(total, part) {
  total.generated += part.generated;
  total.run += part.run;
  total.hung += part.hung;
  for (const [name, count] of Object.entries(part.allowed)) {
    total.allowed[name] = (total.allowed[name] ?? 0) + count;
  }
  for (const finding of part.findings) {
    total.findings.push(finding);
    console.log(
      `${finding.index} ${finding.ruleSet}: ${finding.problem}\n  ${JSON.stringify(finding.script)}`,
    );
  }
}
