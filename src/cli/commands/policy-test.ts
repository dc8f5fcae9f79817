import { readFileSync } from 'node:fs';
import { join, resolve } from '../../env/paths.js';
import { projectLevels } from '../../env/project-levels.js';
import { messageOf, PortcullisError, systemCodeOf } from '../../errors.js';
import { openProjectPolicy, type PolicyDecision } from '../../project/policy.js';
import { parseCall, type ToolCall } from '../../project/policy-call.js';
import type { ProjectPlaces } from '../../project/project.js';
import { parseTestTable } from '../../project/test-table.js';
import { PERMISSION_MODES, type PermissionMode } from '../../protocol/permissions.js';
import { visible } from '../../util/visible.js';
import type { CommandSpec } from '../command.js';
import { EXIT } from '../exit-code.js';
import { unaskedText } from './explain.js';
import { JSON_OPTION, printJson, SETTINGS_OPTION, withProject } from './project-call.js';

const NAMES = ['policy-tests.yaml', 'policy-tests.yml', 'policy-tests.json'];

interface TestResult {
  readonly file: string;
  readonly test: PolicyTest;
  readonly decision: PolicyDecision;
  /** Why it failed; absent when it passed. */
  readonly failure?: string | undefined;
}

export const test: CommandSpec = {
  summary: 'Run the policy tests that are kept beside the settings.',
  arguments: [{ name: '[files...]', description: `Default: .claude/${NAMES[0]} and the like.` }],
  options: [SETTINGS_OPTION, JSON_OPTION],
  notes: 'The project counts as trusted, as nothing is run.\ndocs/policy-tests.md shows a file.',
  run: (call) =>
    withProject(
      call,
      async (project) => {
        const { cwd } = project;
        const files = call.args.map((word) => resolve(cwd, word));
        const evaluate = await openProjectPolicy(project, { hooks: false, warn: call.output.warn });
        const results: TestResult[] = [];
        for (const file of files.length > 0 ? files : findTables(project.places)) {
          for (const test of readTable(file)) {
            const decision = await evaluate({
              ...test.call,
              cwd: resolve(cwd, test.cwd ?? '.'),
              mode: test.mode,
              agent: test.agent,
            });
            results.push({ file, test, decision, failure: failureOf(test, decision) });
          }
        }
        if (call.options.json === true) printJson(call, results.map(resultData));
        else call.output.out(resultText(results));
        const failed = results.some(({ failure }) => failure !== undefined);
        return failed ? EXIT.error : EXIT.done;
      },
      { trust: 'given' },
    ),
};

/** The tables beside the settings: from here up to the repository, and the user's own. */
function findTables({ cwd, configDir }: ProjectPlaces): readonly string[] {
  const directories = [...projectLevels(cwd).map((level) => join(level, '.claude')), configDir];
  const files = [...new Set(directories)].flatMap((one) => NAMES.map((name) => join(one, name)));
  const found = files.filter((file) => readIfPresent(file) !== undefined);
  if (found.length > 0) return found;
  throw new PortcullisError('usage', 'there are no policy tests here', {
    remedy: `write .claude/${NAMES[0]} (docs/policy-tests.md shows one), or name a file`,
  });
}

function readIfPresent(file: string): string | undefined {
  try {
    return readFileSync(file, 'utf8');
  } catch (thrown) {
    if (systemCodeOf(thrown) === 'ENOENT' || systemCodeOf(thrown) === 'ENOTDIR') return undefined;
    throw new PortcullisError('io', `cannot read ${file}: ${messageOf(thrown)}`);
  }
}

/** One entry of a table. */
interface PolicyTest {
  readonly text: string;
  readonly line: number;
  readonly call: ToolCall;
  readonly expect: PolicyDecision['decision'];
  /** The rule that has to be what decided. */
  readonly rule?: string | undefined;
  readonly agent?: string | undefined;
  readonly mode?: PermissionMode | undefined;
  /** Relative to the project. */
  readonly cwd?: string | undefined;
}

const FIELDS = ['call', 'expect', 'rule', 'agent', 'mode', 'cwd'];

function readTable(file: string): readonly PolicyTest[] {
  const text = readIfPresent(file);
  if (text === undefined) throw new PortcullisError('usage', `there is no file ${file}`);
  // fail-closed: a table that is read in part would pass without having tested the rest.
  const usageError = (problem: string): PortcullisError =>
    new PortcullisError('usage', `${file}:${problem}`, {
      remedy: 'a table is a list of {call, expect, rule?, agent?, mode?, cwd?}',
    });
  const rows = parseTestTable(text, FIELDS);
  if (!rows.ok) throw usageError(rows.error);
  return rows.value.map(({ line, fields }) => {
    try {
      return parseTest(fields, line);
    } catch (thrown) {
      throw usageError(`${line}: ${messageOf(thrown)}`);
    }
  });
}

/** Throws with what is wrong. */
function parseTest(fields: Readonly<Record<string, unknown>>, line: number): PolicyTest {
  const odd = Object.keys(fields).find((name) => typeof fields[name] !== 'string');
  if (odd !== undefined) throw new Error(`"${odd}" is no text`);
  const { call: text, mode, expect, ...rest } = fields as Readonly<Record<string, string>>;
  if (text === undefined) throw new Error('there is no "call"');
  const expected = (['allow', 'ask', 'deny'] as const).find((one) => one === expect);
  if (expected === undefined) throw new Error('"expect" must be allow, ask or deny');
  const known = PERMISSION_MODES.find((one) => one === mode);
  if (mode !== undefined && known === undefined) {
    throw new Error(`"mode" must be one of ${PERMISSION_MODES.join(', ')}`);
  }
  return { ...rest, text, line, call: parseCall(text), expect: expected, mode: known };
}

function failureOf({ expect, rule }: PolicyTest, decision: PolicyDecision): string | undefined {
  const { rule: source = '', decidedBy, reason } = decision;
  const by = source === '' ? `${decidedBy}: ${reason}` : source;
  if (decision.decision !== expect) return `expected ${expect}, is ${decision.decision} (${by})`;
  // A source is a rule with its place, `Bash(rm *) (…/settings.json:4)`, or a list of such.
  const isBy = source === rule || source.startsWith(`${rule} (`) || source.includes(`, ${rule} (`);
  return rule === undefined || isBy ? undefined : `expected the rule ${rule}, decided by ${by}`;
}

function resultText(results: readonly TestResult[]): string {
  const failed = results.flatMap(({ file, test, failure }) =>
    failure === undefined
      ? []
      : [`${file}:${test.line}: ${visible(test.text)}\n  ${visible(failure)}\n`],
  );
  const files = new Set(results.map(({ file }) => file)).size;
  const unasked = Math.max(0, ...results.map(({ decision }) => decision.unaskedHooks ?? 0));
  return [
    ...failed,
    unaskedText(unasked, 'these tests are about rules alone'),
    `${results.length - failed.length} passed, ${failed.length} failed `,
    `(${results.length} cases in ${files} ${files === 1 ? 'file' : 'files'})\n`,
  ].join('');
}

function resultData({ file, test, decision, failure }: TestResult): object {
  const { receipt: _, ...decided } = decision;
  const { line, text: call, expect } = test;
  return { file, line, call, expect, ...decided, passed: failure === undefined, failure };
}
