import { parseFlatYaml } from '../util/flat-yaml.js';
import { parseJson } from '../util/json.js';
import { nearest } from '../util/nearest.js';
import { isRecord } from '../util/own.js';
import { err, ok, type Result } from '../util/result.js';

/** One prompt, and the skill that a model should take for it. */
export interface SkillTest {
  readonly line: number;
  readonly prompt: string;
  /** Undefined: none. */
  readonly skill: string | undefined;
  /** A file that is touched first, for skills that wait for one. */
  readonly touch?: string;
}

const FIELDS: readonly string[] = ['prompt', 'skill', 'touch'];
/** In place of a name: the model is to take no skill. */
const NONE = 'none';

/** Reads a table: YAML in its plainest form, or JSON, a list of the same maps. */
export function parseSkillTests(text: string): Result<readonly SkillTest[], string> {
  const rows = text.trimStart().startsWith('[') ? fromJson(text) : fromYaml(text);
  if (!rows.ok) return rows;
  const tests: SkillTest[] = [];
  for (const { line, fields } of rows.value) {
    const test = testOf(fields, line);
    if (!test.ok) return err(`${line}: ${test.error}`);
    tests.push(test.value);
  }
  return tests.length === 0 ? err('1: there is no test in it') : ok(tests);
}

interface Row {
  readonly line: number;
  readonly fields: Readonly<Record<string, unknown>>;
}

function fromYaml(text: string): Result<readonly Row[], string> {
  const parsed = parseFlatYaml(text);
  return parsed.ok ? parsed : err(`${parsed.error.line}: ${parsed.error.message}`);
}

function fromJson(text: string): Result<readonly Row[], string> {
  const parsed = parseJson(text);
  if (!parsed.ok) return err(`1: ${parsed.error}`);
  const rows: Row[] = [];
  for (const [index, fields] of (parsed.value as unknown[]).entries()) {
    if (!isRecord(fields)) return err(`entry ${index + 1} is no object`);
    rows.push({ line: index + 1, fields });
  }
  return ok(rows);
}

function testOf(fields: Row['fields'], line: number): Result<SkillTest, string> {
  const odd = Object.keys(fields).find((name) => !FIELDS.includes(name));
  if (odd !== undefined) {
    const meant = nearest(odd, FIELDS);
    return err(`"${odd}" is not a field${meant === undefined ? '' : `; did you mean ${meant}?`}`);
  }
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
