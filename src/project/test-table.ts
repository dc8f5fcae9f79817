import { parseFlatYaml } from '../util/flat-yaml.js';
import { parseJson } from '../util/json.js';
import { nearest } from '../util/nearest.js';
import { isRecord } from '../util/own.js';
import { err, ok, type Result } from '../util/result.js';

/** One case of a table. */
export interface TableRow {
  readonly line: number;
  readonly fields: Readonly<Record<string, unknown>>;
}

/**
 * Parses a table of test cases: flat YAML, or JSON, a list of the same maps. Refuses fields other than
 * `names`. An error begins with its line.
 */
export function parseTestTable(
  text: string,
  names: readonly string[],
): Result<readonly TableRow[], string> {
  const rows = text.trimStart().startsWith('[') ? parseJsonRows(text) : parseYamlRows(text);
  if (!rows.ok) return rows;
  for (const { line, fields } of rows.value) {
    const odd = Object.keys(fields).find((name) => !names.includes(name));
    if (odd === undefined) continue;
    const meant = nearest(odd, names);
    const hint = meant === undefined ? '' : `; did you mean ${meant}?`;
    return err(`${line}: "${odd}" is not a field${hint}`);
  }
  return rows;
}

function parseYamlRows(text: string): Result<readonly TableRow[], string> {
  const parsed = parseFlatYaml(text);
  return parsed.ok ? parsed : err(`${parsed.error.line}: ${parsed.error.message}`);
}

function parseJsonRows(text: string): Result<readonly TableRow[], string> {
  const parsed = parseJson(text);
  if (!parsed.ok) return err(`1: ${parsed.error}`);
  const entries: readonly unknown[] = Array.isArray(parsed.value) ? parsed.value : [];
  const odd = entries.findIndex((entry) => !isRecord(entry));
  if (odd >= 0) return err(`${odd + 1}: the entry is no object`);
  return ok(entries.filter(isRecord).map((fields, index) => ({ line: index + 1, fields })));
}
