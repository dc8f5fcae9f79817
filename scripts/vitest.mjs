// Runs the tests, and what failed once more, alone. Many tests start real processes, servers and terminals
// with real deadlines; beside another file on a busy machine one may miss its deadline. Such a failure is
// named at the end of the run, never hidden; one that repeats fails the run.
import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { ROOT } from './setup.mjs';

/** More failing files than this are a defect, not a busy machine: they are not run again. */
const MOST_FILES_AGAIN = 6;
/** Nothing that fails here is put down to the machine: a race in a guard is a hole. */
const COUNTS_AT_ONCE = /^test\/(?:security|attack)\//;

export function runVitest(filters) {
  const first = vitestOnce(filters);
  const files = [...new Set(first.failing.map(({ file }) => file))];
  const mayRepeat =
    files.length > 0 &&
    files.length <= MOST_FILES_AGAIN &&
    first.outside.length === 0 &&
    !files.some((file) => COUNTS_AT_ONCE.test(file));
  if (!mayRepeat) return outcomeOf(first);
  process.stdout.write(`\nrunning again, alone: ${files.join(', ')}\n`);
  const again = vitestOnce(files, ['--maxWorkers=1', '--no-file-parallelism']);
  const still = new Set(again.failing.map(keyOf));
  return {
    ...outcomeOf(again),
    passed: first.passed + Math.max(0, first.failing.length - again.failing.length),
    skipped: first.skipped,
    unsteady: first.failing.filter((one) => !still.has(keyOf(one))).map(described),
  };
}

function outcomeOf({ passed, skipped, failing, outside }) {
  const failures = [...failing.map(described), ...outside];
  return { passed, skipped, failed: failures.length, failures };
}

function vitestOnce(filters, options = []) {
  const directory = mkdtempSync(path.join(os.tmpdir(), 'portcullis-tests-'));
  const file = path.join(directory, 'report.json');
  const result = spawnSync(
    process.execPath,
    [
      path.join(ROOT, 'node_modules/vitest/vitest.mjs'),
      'run',
      '--reporter=default',
      `--reporter=${path.join(ROOT, 'scripts/vitest-report.mjs')}`,
      ...options,
      ...filters,
    ],
    { cwd: ROOT, stdio: 'inherit', env: { ...process.env, PORTCULLIS_TEST_REPORT: file } },
  );
  const report = existsSync(file) ? JSON.parse(readFileSync(file, 'utf8')) : undefined;
  rmSync(directory, { recursive: true, force: true });
  if (report === undefined) {
    process.stderr.write('the test runner wrote no report\n');
    process.exit(result.status === 0 ? 1 : (result.status ?? 1));
  }
  const isUnexplained = result.status !== 0 && report.failing.length + report.outside.length === 0;
  if (isUnexplained) report.outside.push(`the test runner ended with ${result.status}`);
  return report;
}

const keyOf = ({ file, test }) => `${file}\0${test}`;

function described({ file, test, message }) {
  return `${file}: ${test}: ${message}`;
}
