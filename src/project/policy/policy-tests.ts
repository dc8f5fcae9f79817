import { messageOf, PortcullisError, systemCodeOf } from '../../errors.js';
import type { FileSystem } from '../../platform/fs/fs.js';
import { join, resolve } from '../../platform/fs/paths.js';
import { projectLevels } from '../../platform/fs/project-levels.js';
import { PERMISSION_MODES, type PermissionMode } from '../../protocol/permissions.js';
import type { Project, ProjectPlaces } from '../project.js';
import { openProjectPolicy, type PolicyDecision } from './policy.js';
import { parseCall, type ToolCall } from './policy-call.js';
import { parseTestTable } from './test-table.js';

/** Names of a table beside the settings; the first is the one to write. */
export const POLICY_TEST_NAMES = [
  'policy-tests.yaml',
  'policy-tests.yml',
  'policy-tests.json',
] as const;

/** A file of test cases. */
export interface PolicyTable {
  readonly file: string;
  readonly text: string;
}

/** One case and how it is decided. */
export interface PolicyTestResult {
  readonly file: string;
  readonly test: PolicyTest;
  readonly decision: PolicyDecision;
  /** Why it failed; absent when it passed. */
  readonly failure?: string | undefined;
}

/** Decides the cases of tables by the settings of a project. Runs no tool and no hook. */
export async function runPolicyTests(
  project: Project,
  tables: readonly PolicyTable[],
  warn: (text: string) => void,
): Promise<readonly PolicyTestResult[]> {
  const { cwd } = project;
  const evaluate = await openProjectPolicy(project, { hooks: false, warn });
  const results: PolicyTestResult[] = [];
  for (const { file, text } of tables) {
    for (const test of await parseTable(file, text)) {
      const { mode, agent, call } = test;
      const decision = await evaluate({ ...call, cwd: resolve(cwd, test.cwd ?? '.'), mode, agent });
      results.push({ file, test, decision, failure: failureOf(test, decision) });
    }
  }
  return results;
}

/** The tables beside the settings: from here up to the repository, and the user's own. */
export async function findPolicyTables({
  fs,
  cwd,
  configDir,
}: ProjectPlaces): Promise<readonly PolicyTable[]> {
  const directories = [...projectLevels(cwd).map((level) => join(level, '.claude')), configDir];
  const tables: PolicyTable[] = [];
  for (const directory of new Set(directories)) {
    for (const name of POLICY_TEST_NAMES) {
      const file = join(directory, name);
      const text = await readIfPresent(fs, file);
      if (text !== undefined) tables.push({ file, text });
    }
  }
  return tables;
}

/** The tables of these files; one that is missing is an error. */
export async function readPolicyTables(
  { fs, cwd }: ProjectPlaces,
  names: readonly string[],
): Promise<readonly PolicyTable[]> {
  const tables: PolicyTable[] = [];
  for (const file of names.map((name) => resolve(cwd, name))) {
    const text = await readIfPresent(fs, file);
    if (text === undefined) throw new PortcullisError('usage', `there is no file ${file}`);
    tables.push({ file, text });
  }
  return tables;
}

async function readIfPresent(fs: FileSystem, file: string): Promise<string | undefined> {
  try {
    return await fs.readText(file);
  } catch (thrown) {
    if (systemCodeOf(thrown) === 'ENOENT' || systemCodeOf(thrown) === 'ENOTDIR') return undefined;
    throw new PortcullisError('io', `cannot read ${file}: ${messageOf(thrown)}`);
  }
}

/** One entry of a table. */
export interface PolicyTest {
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

async function parseTable(file: string, text: string): Promise<readonly PolicyTest[]> {
  // fail-closed: a table that is read in part would pass without having tested the rest.
  const usageError = (problem: string): PortcullisError =>
    new PortcullisError('usage', `${file}:${problem}`, {
      remedy: 'a table is a list of {call, expect, rule?, agent?, mode?, cwd?}',
    });
  const rows = await parseTestTable(text, FIELDS);
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
  if (odd !== undefined) throw new Error(`"${odd}" is not a text`);
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
