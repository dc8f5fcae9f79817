import { err, ok, type Result } from './result.js';

export interface FlatMap {
  /** Where it begins, from 1. */
  readonly line: number;
  readonly fields: Readonly<Record<string, string>>;
}

export interface FlatYamlError {
  readonly line: number;
  readonly message: string;
}

/**
 * The one shape of YAML that tables of cases need: a list of maps with one text a key.
 *
 *     - call: Bash(git push)   # a comment
 *       expect: "deny"
 *
 * Everything else of YAML is refused with its line, so that nothing is read as what it is not.
 */
export function parseFlatYaml(text: string): Result<readonly FlatMap[], FlatYamlError> {
  const maps: { line: number; indent: number; fields: Record<string, string> }[] = [];
  let dash: number | undefined;
  for (const [index, raw] of text
    .replace(/^\uFEFF/, '')
    .split(/\r?\n/)
    .entries()) {
    const line = index + 1;
    const refuse = (message: string) => err({ line, message });
    if (/^\s*(#.*)?$/.test(raw) || (raw === '---' && maps.length === 0)) continue;
    if (/^\s*\t/.test(raw)) return refuse('a tab stands where YAML wants blanks');
    const found = /^( *)(- +)?([A-Za-z_][\w-]*) *:(?: +(.*))?$/.exec(raw);
    if (found === null) return refuse('it is not "- key: value" or "  key: value"');
    const [, blanks = '', bullet, key = '', rest = ''] = found;
    const column = blanks.length + (bullet?.length ?? 0);
    if (bullet !== undefined) {
      dash ??= blanks.length;
      if (blanks.length !== dash)
        return refuse('the dashes of the list do not stand in one column');
      maps.push({ line, indent: column, fields: Object.create(null) });
    }
    const map = maps.at(-1);
    if (map === undefined) return refuse('the list does not begin with a dash');
    if (column !== map.indent) return refuse('its keys do not stand in one column');
    if (Object.hasOwn(map.fields, key)) return refuse(`"${key}" stands twice`);
    const value = scalar(rest.trim());
    if (!value.ok) return refuse(value.error);
    map.fields[key] = value.value;
  }
  return ok(maps.map(({ line, fields }) => ({ line, fields: { ...fields } })));
}

function scalar(text: string): Result<string, string> {
  if (text.startsWith('"')) return doubleQuoted(text);
  if (text.startsWith("'")) {
    const found = /^'((?:[^']|'')*)'\s*(#.*)?$/.exec(text);
    return found === null
      ? err('a text in single quotes is not closed')
      : ok((found[1] ?? '').replaceAll("''", "'"));
  }
  const plain = text.replace(/(^|\s)#.*$/, '').trimEnd();
  if (plain === '') return err('a value is missing');
  if (/^[&*!|>%@`{[\]},?]/.test(plain) || /^- /.test(plain)) {
    return err('a value that begins like this has to stand in quotes');
  }
  if (/:(\s|$)/.test(plain)) return err('a value with a colon and a blank has to stand in quotes');
  return ok(plain);
}

function doubleQuoted(text: string): Result<string, string> {
  const found = /^("(?:[^"\\]|\\.)*")\s*(#.*)?$/.exec(text);
  if (found === null) return err('a text in double quotes is not closed');
  try {
    return ok(JSON.parse(found[1] ?? '') as string);
  } catch {
    // YAML knows more escapes than JSON; a guess could change what is tested.
    return err('a text in double quotes holds an escape that is not known');
  }
}
