import { err, ok, type Result } from '../util/result.js';
import { parseTestTable, type TableRow } from './test-table.js';

/** One prompt, and the skill that a model should take for it. */
export interface SkillTest {
  readonly line: number;
  readonly prompt: string;
  /** Undefined: none. */
  readonly skill: string | undefined;
  /** A file that is touched first, for skills that wait for one. */
  readonly touch?: string;
}

/** In place of a name: the model is to take no skill. */
const NONE = 'none';

/** Reads a table: YAML in its plainest form, or JSON, a list of the same maps. */
export function parseSkillTests(text: string): Result<readonly SkillTest[], string> {
  const rows = parseTestTable(text, ['prompt', 'skill', 'touch']);
  if (!rows.ok) return rows;
  const tests: SkillTest[] = [];
  for (const { line, fields } of rows.value) {
    const test = testOf(fields, line);
    if (!test.ok) return err(`${line}: ${test.error}`);
    tests.push(test.value);
  }
  return tests.length === 0 ? err('1: there is no test in it') : ok(tests);
}

function testOf(fields: TableRow['fields'], line: number): Result<SkillTest, string> {
  const { prompt, skill, touch } = fields;
  if (typeof prompt !== 'string' || prompt.trim() === '') return err('there is no "prompt"');
  // fail-closed: a test without an expectation would pass whatever happens.
  if (skill !== null && (typeof skill !== 'string' || skill === '')) {
    return err(`there is no "skill"; write the name of one, or ${NONE}`);
  }
  if (touch !== undefined && typeof touch !== 'string') return err('"touch" is no text');
  const expected = skill === null || skill === NONE ? undefined : skill.replace(/^\//, '');
  return ok({ line, prompt, skill: expected, ...(touch === undefined ? {} : { touch }) });
}
