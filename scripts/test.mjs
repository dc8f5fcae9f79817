// npm test: everything that must hold, in one command, from a fresh clone.
//   npm test                 set-up, checks, build, all tests, and the shared kits where they lie beside us
//   npm test -- src/loop     only the tests below a path
import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { ensureBuilt, ensureInstalled, must, ROOT } from './setup.mjs';
import { ensureSystemPackages } from './system-packages.mjs';

const only = process.argv.slice(2);
const count = { passed: 0, failed: 0, skipped: 0 };

ensureInstalled();
ensureSystemPackages(['tmux', 'git', 'bwrap']);
if (only.length === 0) must(process.execPath, ['scripts/check.mjs']);
if (only.length === 0) must(process.execPath, ['scripts/build.mjs']);
else ensureBuilt();
runVitest(only);
if (only.length === 0) await runKits();
process.stdout.write(
  `\n${count.passed} passed, ${count.failed} failed, ${count.skipped} skipped\n`,
);
process.exitCode = count.failed > 0 ? 1 : 0;

function runVitest(filters) {
  const directory = mkdtempSync(path.join(os.tmpdir(), 'portcullis-tests-'));
  const report = path.join(directory, 'report.json');
  const result = spawnSync(
    process.execPath,
    [
      path.join(ROOT, 'node_modules/vitest/vitest.mjs'),
      'run',
      '--reporter=default',
      '--reporter=json',
      `--outputFile.json=${report}`,
      ...filters,
    ],
    { cwd: ROOT, stdio: 'inherit' },
  );
  const totals = existsSync(report) ? JSON.parse(readFileSync(report, 'utf8')) : undefined;
  rmSync(directory, { recursive: true, force: true });
  if (totals === undefined) {
    process.stderr.write('the test runner wrote no report\n');
    process.exit(result.status === 0 ? 1 : (result.status ?? 1));
  }
  count.passed += totals.numPassedTests;
  count.skipped += totals.numPendingTests + totals.numTodoTests;
  count.failed += totals.numFailedTests;
  // A file that does not load, or an unhandled rejection, fails the run without failing a test.
  if (result.status !== 0 && count.failed === 0) count.failed += 1;
}

async function runKits() {
  const { oracleKit, securityKit } = await import('./kits.mjs');
  for (const outcome of [securityKit(), oracleKit()]) {
    if (outcome === undefined) continue;
    process.stdout.write(`${outcome.text}\n`);
    count.passed += outcome.passed;
    count.failed += outcome.failed;
  }
}
