// npm test: everything that must hold, in one command, from a fresh clone.
//   npm test                   set-up, checks, build, the kits that lie beside the project, all tests
//   npm test -- src/loop       the tests below a path
//   npm run test:full          more cases of the generated tests, with other seeds
// With PORTCULLIS_ALL_TESTS=1 every program of scripts/programs.mjs must be installed.
import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { ensurePrograms } from './programs.mjs';
import { ensureBuilt, ensureInstalled, must, ROOT } from './setup.mjs';

const SHARED = path.join(ROOT, '..', 'shared');
/** Seeds of `test:full`, beside the one that `npm test` uses. */
const SEEDS = [1, 2, 3, 4, 5];
const GENERATED_TESTS = ['property', 'test/differential', 'workspace-fence', 'odd-heads'];

const full = process.argv[2] === '--full';
const only = process.argv.slice(full ? 3 : 2);
const isWhole = !full && only.length === 0;

ensureInstalled();
reportMissing(ensurePrograms());
if (isWhole) must('npm', ['run', '--silent', 'check']);
ensureBuilt({ types: isWhole });
const kitsAgree = isWhole ? [securityKit(), oracleKit()].every((agrees) => agrees) : true;
if (full) for (const seed of SEEDS) runVitest(GENERATED_TESTS, seed);
else runVitest(only);
if (!kitsAgree) {
  process.stderr.write('\nthe kits beside the project differ: see above the tests\n');
  process.exit(1);
}

function reportMissing(missing) {
  if (missing.length === 0) return;
  const isError = process.env.PORTCULLIS_ALL_TESTS === '1';
  const effect = isError ? 'PORTCULLIS_ALL_TESTS=1 needs all of them' : 'their tests are skipped';
  process.stderr.write(`not installed: ${missing.join(', ')}; ${effect}\n`);
  if (isError) process.exit(1);
}

function runVitest(filters, seed) {
  const seeds = { FAST_CHECK_SEED: String(seed), DIFFERENTIAL_SEED: String(seed) };
  const env = { ...plainEnvironment(), ...(seed === undefined ? {} : seeds) };
  const vitest = path.join(ROOT, 'node_modules/vitest/vitest.mjs');
  must(process.execPath, [vitest, 'run', ...filters], { env });
}

/** Sends the security pairs through the gate; the kit's own bars decide. */
function securityKit() {
  const kit = path.join(SHARED, 'security/run');
  if (!existsSync(kit)) return true;
  const { status, stdout, stderr } = run([kit]);
  const rates = stdout.match(/^\w+\/\w+\/\w+: \d+\/\d+ .*$/gm) ?? [];
  const holds = status === 0 && rates.length > 0;
  process.stdout.write(`security pairs:\n${holds ? rates.join('\n') : `${stdout}${stderr}`}\n`);
  return holds;
}

/** Plays the scenarios named in test/oracle-scenarios.json and compares with the reference behaviour. */
function oracleKit() {
  const kit = path.join(SHARED, 'oracle');
  if (!existsSync(path.join(kit, 'run-scenario.mjs'))) return true;
  const { only } = JSON.parse(readFileSync(path.join(ROOT, 'test/oracle-scenarios.json'), 'utf8'));
  const observed = mkdtempSync(path.join(os.tmpdir(), 'portcullis-oracle-'));
  try {
    const choice = ['--only', only];
    const played = run([
      path.join(kit, 'run-scenario.mjs'),
      ...choice,
      '--jobs',
      '2',
      '--out',
      observed,
    ]);
    const differences = ['--differences', path.join(ROOT, 'docs/differences.json')];
    const { stdout } = run([path.join(kit, 'compare.mjs'), ...choice, ...differences, observed]);
    const agrees = /\d+ meant differences, 0 different, 0 not run, 0 stale/.test(stdout);
    process.stdout.write(`scenarios (${only}):\n${agrees ? '' : played.stdout}${stdout}\n`);
    return agrees;
  } finally {
    rmSync(observed, { recursive: true, force: true });
  }
}

function run(args) {
  return spawnSync(process.execPath, args, {
    cwd: ROOT,
    encoding: 'utf8',
    env: plainEnvironment(),
    maxBuffer: 1 << 26,
  });
}

/** Tests and kits start many processes, and Node reads these certificates in each. */
function plainEnvironment() {
  const { NODE_EXTRA_CA_CERTS: _, ...env } = process.env;
  return env;
}
