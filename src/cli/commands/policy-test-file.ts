import { type DescribedCall, readCall } from '../../project/call-text.js';
import { PERMISSION_MODES, type PermissionMode } from '../../protocol/permissions.js';
import { parseFlatYaml } from '../../util/flat-yaml.js';
import { parseJson } from '../../util/json.js';
import { nearest } from '../../util/nearest.js';
import { isRecord } from '../../util/own.js';
import { err, ok, type Result } from '../../util/result.js';

/** One line of a policy table. */
export interface PolicyTest {
  readonly text: string;
  readonly line: number;
  readonly call: DescribedCall;
  readonly expect: 'allow' | 'ask' | 'deny';
  /** Rule text that has to be what decided. */
  readonly rule?: string;
  readonly agent?: string;
  readonly mode?: PermissionMode;
  /** Relative to the project. */
  readonly cwd?: string;
}

const FIELDS = ['call', 'expect', 'rule', 'agent', 'mode', 'cwd'];

/** Reads a table: YAML in its plainest form, or JSON, a list of the same maps. */
export function readPolicyTests(text: string): Result<readonly PolicyTest[], string> {
  const maps = text.trimStart().startsWith('[') ? fromJson(text) : fromYaml(text);
  if (!maps.ok) return maps;
  const tests: PolicyTest[] = [];
  for (const { line, fields } of maps.value) {
    const test = testOf(fields, line);
    if (!test.ok) return err(`${line}: ${test.error}`);
    tests.push(test.value);
  }
  return ok(tests);
}

interface Row {
  readonly line: number;
  readonly fields: Readonly<Record<string, string>>;
}

function fromYaml(text: string): Result<readonly Row[], string> {
  const parsed = parseFlatYaml(text);
  return parsed.ok ? parsed : err(`${parsed.error.line}: ${parsed.error.message}`);
}

function fromJson(text: string): Result<readonly Row[], string> {
  const parsed = parseJson(text);
  if (!parsed.ok) return err(`1: ${parsed.error}`);
  const rows: Row[] = [];
  for (const [index, entry] of (parsed.value as unknown[]).entries()) {
    const line = index + 1;
    if (!isRecord(entry)) return err(`entry ${line} is no object`);
    const odd = Object.entries(entry).find(([, value]) => typeof value !== 'string');
    if (odd !== undefined) return err(`entry ${line}: "${odd[0]}" is no text`);
    rows.push({ line, fields: entry as Record<string, string> });
  }
  return ok(rows);
}

function testOf(fields: Row['fields'], line: number): Result<PolicyTest, string> {
  const odd = Object.keys(fields).find((name) => !FIELDS.includes(name));
  if (odd !== undefined) {
    const meant = nearest(odd, FIELDS);
    return err(`"${odd}" is not a field${meant === undefined ? '' : `; did you mean ${meant}?`}`);
  }
  const { call, expect, rule, agent, mode, cwd } = fields;
  if (call === undefined) return err('there is no "call"');
  const expected = (['allow', 'ask', 'deny'] as const).find((one) => one === expect);
  if (expected === undefined) return err('"expect" must be allow, ask or deny');
  const known = PERMISSION_MODES.find((one) => one === mode);
  if (mode !== undefined && known === undefined) {
    return err(`"mode" must be one of ${PERMISSION_MODES.join(', ')}`);
  }
  try {
    return ok({
      text: call,
      line,
      call: readCall(call),
      expect: expected,
      ...(rule === undefined ? {} : { rule }),
      ...(agent === undefined ? {} : { agent }),
      ...(known === undefined ? {} : { mode: known }),
      ...(cwd === undefined ? {} : { cwd }),
    });
  } catch (thrown) {
    return err(thrown instanceof Error ? thrown.message : String(thrown));
  }
}
