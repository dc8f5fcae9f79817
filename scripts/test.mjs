// npm test: everything that must hold, in one command, from a fresh clone.
//   npm test                   set-up, build, then all tests, with the checks and the kits beside the project at the same time
//   npm test -- src/loop       the tests below a path
//   npm run test:full          more cases of the generated tests, with other seeds
// With PORTCULLIS_ALL_TESTS=1 every program of scripts/programs.mjs must be installed.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { ensurePrograms } from './programs.mjs';
import { ensureBuilt, ensureInstalled, ROOT } from './setup.mjs';

const SHARED = path.join(ROOT, '..', 'shared');
/** Seeds of `test:full`, beside the one that `npm test` uses. */
const SEEDS = [1, 2, 3, 4, 5];
const GENERATED_TESTS = [
  'property',
  'differential.test',
  'equivalence.test',
  'workspace-fence',
  'guards/workspace',
  'odd-heads',
];
/** What `test:full` plays more often, once. */
const COUNTED_TESTS = [
  'kill.test',
  'core-lifecycle',
  'rewind.property',
  'frozen.test',
  'differential.test',
  'workspace-fence.test',
];

const full = process.argv[2] === '--full';
const only = process.argv.slice(full ? 3 : 2);

ensureInstalled();
reportMissing(ensurePrograms());
if (full) await runFull();
else if (only.length > 0) await runSome();
else await runAll();

async function runFull() {
  ensureBuilt();
  let passed = await vitest(COUNTED_TESTS, { PORTCULLIS_FULL_TESTS: '1' });
  for (const seed of SEEDS) {
    const seeds = { FAST_CHECK_SEED: String(seed), DIFFERENTIAL_SEED: String(seed) };
    passed = (await vitest(GENERATED_TESTS, seeds)) && passed;
  }
  process.exitCode = passed ? 0 : 1;
}

async function runSome() {
  ensureBuilt();
  process.exitCode = (await vitest(only)) ? 0 : 1;
}

/** The checks and the kits run beside the tests, and report after them. */
async function runAll() {
  ensureBuilt({ types: true });
  const beside = runBeside();
  const passed = await vitest([]);
  const reports = await beside;
  for (const { text } of reports) process.stdout.write(`\n${text.trim()}\n`);
  const failed = reports.filter(({ holds }) => !holds).map(({ name }) => name);
  if (failed.length > 0) process.stderr.write(`\nfailed: ${failed.join(', ')}; see above\n`);
  process.exitCode = passed && failed.length === 0 ? 0 : 1;
}

async function runBeside() {
  const { status, output } = await run('npm', ['run', '--silent', 'check']);
  const check = { name: 'npm run check', holds: status === 0, text: output };
  return [check, ...(await securityKit()), ...(await oracleKit())];
}

function reportMissing(missing) {
  if (missing.length === 0) return;
  const isError = process.env.PORTCULLIS_ALL_TESTS === '1';
  const effect = isError ? 'PORTCULLIS_ALL_TESTS=1 needs all of them' : 'their tests are skipped';
  process.stderr.write(`not installed: ${missing.join(', ')}; ${effect}\n`);
  if (isError) process.exit(1);
}

/** Resolves to whether all tests passed. */
async function vitest(filters, env) {
  const program = path.join(ROOT, 'node_modules/vitest/vitest.mjs');
  const { status } = await run(process.execPath, [program, 'run', ...filters], {
    stdio: 'inherit',
    env,
  });
  return status === 0;
}

/** Sends the security pairs through the gate; the kit's own bars decide. */
async function securityKit() {
  const kit = path.join(SHARED, 'security/run');
  if (!existsSync(kit)) return [];
  const { status, output } = await run(process.execPath, [kit]);
  const rates = output.match(/^\w+\/\w+\/\w+: \d+\/\d+ .*$/gm) ?? [];
  const holds = status === 0 && rates.length > 0;
  const text = `security pairs:\n${holds ? rates.join('\n') : output}`;
  return [{ name: 'security pairs', holds, text }];
}

/** Plays the scenarios named in test/oracle-scenarios.json and compares with the reference behaviour. */
async function oracleKit() {
  const kit = path.join(SHARED, 'oracle');
  const player = path.join(kit, 'run-scenario.mjs');
  if (!existsSync(player)) return [];
  const { only } = JSON.parse(readFileSync(path.join(ROOT, 'test/oracle-scenarios.json'), 'utf8'));
  const observed = mkdtempSync(path.join(os.tmpdir(), 'portcullis-oracle-'));
  try {
    const choice = ['--only', only];
    const out = ['--jobs', '2', '--out', observed];
    const played = await run(process.execPath, [player, ...choice, ...out]);
    const differences = ['--differences', path.join(ROOT, 'docs/differences.json')];
    const compare = [path.join(kit, 'compare.mjs'), ...choice, ...differences, observed];
    const { output } = await run(process.execPath, compare);
    const holds = /\d+ meant differences, 0 different, 0 not run, 0 stale/.test(output);
    const text = `scenarios (${only}):\n${holds ? '' : played.output}${output}`;
    return [{ name: 'scenarios', holds, text }];
  } finally {
    rmSync(observed, { recursive: true, force: true });
  }
}

async function run(command, args, { stdio = ['ignore', 'pipe', 'pipe'], env = {} } = {}) {
  const child = spawn(command, args, { cwd: ROOT, stdio, env: { ...plainEnvironment(), ...env } });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream?.setEncoding('utf8').on('data', (text) => {
      output += text;
    });
  }
  const [status] = await once(child, 'close');
  return { status, output };
}

/** Tests and kits start many processes, and Node reads these certificates in each. */
function plainEnvironment() {
  const { NODE_EXTRA_CA_CERTS: _, ...env } = process.env;
  return env;
}
