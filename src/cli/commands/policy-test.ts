import { readFileSync } from 'node:fs';
import { configDirectory, dirname, findRepositoryRoot, join, resolve } from '../../env/paths.js';
import { messageOf, PortcullisError, systemCodeOf } from '../../errors.js';
import { visible } from '../../util/visible.js';
import { EXIT } from '../exit-code.js';
import type { Output } from '../output.js';
import { readArguments } from './arguments.js';
import {
  openPolicyJudge,
  type PolicyDecision,
  type PolicyJudge,
  type SettingsInForce,
  unaskedText,
} from './policy-judge.js';
import { type PolicyTest, readPolicyTests } from './policy-test-file.js';
import { type HereOptions, settingsHere } from './settings-here.js';

export const USAGE = 'portcullis policy test [files] [--settings F] [--json]';
const NAMES = ['policy-tests.yaml', 'policy-tests.yml', 'policy-tests.json'];

interface TestResult {
  readonly file: string;
  readonly test: PolicyTest;
  readonly decision: PolicyDecision;
  /** Why it failed; absent when it passed. */
  readonly failure?: string;
}

/**
 * Runs tables of calls with the decision that is expected, against the settings here as if the folder
 * were trusted: nothing is run, so nothing needs trust.
 */
export async function run(argv: readonly string[], output: Output): Promise<number> {
  const { words, switches, values } = readArguments(argv, {
    usage: USAGE,
    switches: ['json'],
    values: ['settings'],
  });
  const here: HereOptions = {
    cwd: process.cwd(),
    env: process.env,
    trust: 'given',
    settings: values.get('settings'),
    warn: output.warn,
  };
  const files = words.length > 0 ? words.map((word) => resolve(here.cwd, word)) : tablesOf(here);
  const judge = await openPolicyJudge(process.env);
  const inForce = settingsHere(here);
  const results: TestResult[] = [];
  for (const file of files) {
    for (const test of readTable(file))
      results.push(await runTest({ file, test }, judge, { ...here, inForce }));
  }
  const failed = results.filter(({ failure }) => failure !== undefined);
  if (switches.has('json')) output.out(`${JSON.stringify(results.map(asData))}\n`);
  else report(results, failed, output);
  return failed.length === 0 ? EXIT.done : EXIT.error;
}

/** The tables beside the settings: from here up to the repository, and the user's own. */
function tablesOf({ cwd, env }: HereOptions): readonly string[] {
  const top = findRepositoryRoot(cwd) ?? cwd;
  const directories = [join(cwd, '.claude')];
  for (let at = cwd; at !== top && dirname(at) !== at; ) {
    at = dirname(at);
    directories.push(join(at, '.claude'));
  }
  directories.push(configDirectory(env));
  const files = [...new Set(directories)].flatMap((one) => NAMES.map((name) => join(one, name)));
  const there = files.filter((file) => textOf(file) !== undefined);
  if (there.length > 0) return there;
  throw new PortcullisError('usage', 'there are no policy tests here', {
    remedy: `write .claude/${NAMES[0]} (docs/policy-tests.md shows one), or name a file`,
  });
}

function readTable(file: string): readonly PolicyTest[] {
  const text = textOf(file);
  if (text === undefined) throw new PortcullisError('usage', `there is no file ${file}`);
  const tests = readPolicyTests(text);
  // fail-closed: a table that is read in part would pass without having tested the rest.
  if (!tests.ok) {
    throw new PortcullisError('usage', `${file}:${tests.error}`, {
      remedy: 'a table is a list of {call, expect, rule?, agent?, mode?, cwd?}',
    });
  }
  return tests.value;
}

function textOf(file: string): string | undefined {
  try {
    return readFileSync(file, 'utf8');
  } catch (thrown) {
    if (systemCodeOf(thrown) === 'ENOENT' || systemCodeOf(thrown) === 'ENOTDIR') return undefined;
    throw new PortcullisError('io', `cannot read ${file}: ${messageOf(thrown)}`);
  }
}

async function runTest(
  { file, test }: { file: string; test: PolicyTest },
  judge: PolicyJudge,
  here: { readonly cwd: string; readonly inForce: SettingsInForce },
): Promise<TestResult> {
  const { call, mode, agent } = test;
  const decision = await judge.decide({
    ...call,
    settings: {},
    inForce: here.inForce,
    cwd: resolve(here.cwd, test.cwd ?? '.'),
    ...(mode === undefined ? {} : { mode }),
    ...(agent === undefined ? {} : { agent }),
  });
  if (decision.receipt === undefined) throw new PortcullisError('config', decision.reason);
  const failure = failureOf(test, decision);
  return { file, test, decision, ...(failure === undefined ? {} : { failure }) };
}

function failureOf({ expect, rule }: PolicyTest, decision: PolicyDecision): string | undefined {
  const by = decision.rule ?? `${decision.decidedBy}: ${decision.reason}`;
  if (decision.decision !== expect) {
    return `expected ${expect}, is ${decision.decision} (${by})`;
  }
  if (rule === undefined || decidedByRule(decision, rule)) return undefined;
  return `expected the rule ${rule}, decided by ${by}`;
}

/** Sources are rule texts with their place: `Bash(rm *) (…/settings.json:4)`. */
function decidedByRule({ rule: source = '' }: PolicyDecision, rule: string): boolean {
  return source === rule || source.startsWith(`${rule} (`) || source.includes(`, ${rule} (`);
}

function report(
  results: readonly TestResult[],
  failed: readonly TestResult[],
  output: Output,
): void {
  for (const { file, test, failure } of failed) {
    output.out(`${file}:${test.line}: ${visible(test.text)}\n  ${visible(failure ?? '')}\n`);
  }
  const files = new Set(results.map(({ file }) => file)).size;
  const unasked = Math.max(0, ...results.map(({ decision }) => decision.unaskedHooks ?? 0));
  output.out(unaskedText(unasked, 'the tables test rules alone'));
  output.out(
    `${results.length - failed.length} passed, ${failed.length} failed (${results.length} cases in ${files} ${files === 1 ? 'file' : 'files'})\n`,
  );
}

function asData({ file, test, decision, failure }: TestResult): Readonly<Record<string, unknown>> {
  const { receipt: _, ...decided } = decision;
  return {
    file,
    line: test.line,
    call: test.text,
    expect: test.expect,
    ...decided,
    passed: failure === undefined,
    ...(failure === undefined ? {} : { failure }),
  };
}
