import { parseJson } from '../../lib/json.js';
import { isRecord } from '../../lib/own.js';
import { err, ok, type Result } from '../../lib/result.js';
import { nearest } from '../../lib/text/nearest.js';

/** One case of a table. */
export interface TableRow {
  readonly line: number;
  readonly fields: Readonly<Record<string, unknown>>;
}

/**
 * Parses a table of test cases: YAML, or JSON, a list of maps with one text a key. Refuses fields other than
 * `names`. An error begins with its line.
 */
export async function parseTestTable(
  text: string,
  names: readonly string[],
): Promise<Result<readonly TableRow[], string>> {
  const rows = text.trimStart().startsWith('[') ? parseJsonRows(text) : await parseYamlRows(text);
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

async function parseYamlRows(text: string): Promise<Result<readonly TableRow[], string>> {
  const yaml = await import('../../lib/frontmatter/yaml-library.js');
  const lineCounter = new yaml.LineCounter();
  // Every value is a text: `expect: no` is not false.
  const document = yaml.parseDocument(text, { schema: 'failsafe', lineCounter });
  const lineAt = (node: unknown): number =>
    lineCounter.linePos((node as { range?: readonly number[] | null })?.range?.[0] ?? 0).line;
  const [problem] = [...document.errors, ...document.warnings];
  if (problem !== undefined) {
    const message = problem.message.split('\n')[0]?.replace(/ at line \d+, column \d+:?$/, '');
    return err(`${lineCounter.linePos(problem.pos[0]).line}: ${message}`);
  }
  if (document.contents === null) return ok([]);
  if (!yaml.isSeq(document.contents)) return err('1: the table is not a list ("- key: value")');
  const rows: TableRow[] = [];
  for (const item of document.contents.items) {
    const line = lineAt(item);
    if (!yaml.isMap(item)) return err(`${line}: the entry is not "- key: value"`);
    const fields: Record<string, string> = {};
    for (const { key, value } of item.items) {
      const name = yaml.isScalar(key) ? String(key.value) : '';
      // fail-closed: a guess could change what is tested.
      if (!yaml.isScalar(value) || typeof value.value !== 'string' || value.value === '')
        return err(`${lineAt(key)}: the value of "${name}" is not a text; put it in quotes`);
      fields[name] = value.value;
    }
    rows.push({ line, fields });
  }
  return ok(rows);
}

function parseJsonRows(text: string): Result<readonly TableRow[], string> {
  const parsed = parseJson(text);
  if (!parsed.ok) return err(`1: ${parsed.error}`);
  const entries: readonly unknown[] = Array.isArray(parsed.value) ? parsed.value : [];
  const odd = entries.findIndex((entry) => !isRecord(entry));
  if (odd >= 0) return err(`${odd + 1}: the entry is not an object`);
  return ok(entries.filter(isRecord).map((fields, index) => ({ line: index + 1, fields })));
}
