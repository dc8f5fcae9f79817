import type { HeadGroup } from './head-text.js';

/** Points to something elsewhere, or changes how a value is read. */
const INDIRECT = /^(?:[&*][\w-]|!+[\w<]|\? )/;

/**
 * What people mean by a field that YAML refuses: `description: Use when: …`, `argument-hint: [a] [b]`,
 * `paths: **\/*.ts`. Undefined when it begins something that it does not end.
 */
export function valueByLines({ rest, lines }: HeadGroup): unknown {
  const more = lines.map((line) => line.trim()).filter((line) => line !== '' && !/^#/.test(line));
  if (rest === '' || rest.startsWith('#')) {
    const items = more.map((line) => textOf(/^- +(.*)$/.exec(line)?.[1] ?? ''));
    return items.some((item) => item === undefined || item === '') ? undefined : items;
  }
  if (/^[|>]/.test(rest) || INDIRECT.test(rest)) return undefined;
  const text = [rest.trimEnd(), ...more].join(' ');
  const list = /^\[([^[\]]*)\]$/.exec(withoutComment(text))?.[1];
  if (list === undefined) return textOf(text);
  const items = splitOutsideQuotes(list).map((item) => textOf(item.trim()));
  return items.includes(undefined) ? undefined : items.filter((item) => item !== '');
}

function textOf(text: string): string | undefined {
  if (INDIRECT.test(text)) return undefined;
  const first = text.charAt(0);
  const quoted = /^'((?:[^']|'')*)'(?: +#.*)?$|^"([^"\\]*)"(?: +#.*)?$/.exec(text);
  if (quoted !== null) return quoted[1]?.replaceAll("''", "'") ?? quoted[2];
  if ((first === '"' || first === "'") && text.split(first).length % 2 === 0) return undefined;
  const closes = first === '[' ? ']' : '}';
  const opens = first === '[' || first === '{';
  if (opens && text.split(first).length !== text.split(closes).length) return undefined;
  return withoutComment(text);
}

function withoutComment(text: string): string {
  const at = text.search(/\s#/);
  return at === -1 ? text : text.slice(0, at).trimEnd();
}

function splitOutsideQuotes(text: string): readonly string[] {
  return (
    text
      .match(/(?:^|,)(?:\s*"[^"]*"\s*(?=,|$)|\s*'[^']*'\s*(?=,|$)|[^,]*)/g)
      ?.map((part) => part.replace(/^,/, '')) ?? []
  );
}

/** A field name in a head whose structure is unclear. */
const ANY_NAME = /(?:^|[{,])[ \t]*(?:- +)?["']?([A-Za-z_][\w.-]*)["']?[ \t]*:(?=[\s"'[{]|$)/g;
/** The same where the blank behind the colon was forgotten. */
const NAME_WITHOUT_BLANK = /^[ \t]*([A-Za-z_][\w.-]*):(?=\w)/;

/** The names of fields in lines that could not be read, with the line of each. */
export function doubtfulNames(
  lines: readonly { readonly text: string; readonly line: number }[],
): ReadonlyMap<string, number> {
  const names = new Map<string, number>();
  for (const { text, line } of lines) {
    const tight = NAME_WITHOUT_BLANK.exec(text)?.[1];
    const found = [...text.matchAll(ANY_NAME)].map((match) => match[1] ?? '');
    for (const name of tight === undefined ? found : [tight, ...found]) {
      if (!names.has(name)) names.set(name, line);
    }
  }
  return names;
}

/** A word, an optional list mark before it, and the text after it. */
const FIRST_WORD = /^[^\p{L}\p{N}]{0,8}([A-Za-z_][\w-]{0,40})(?![\w-])(.*)$/su;
/** Nothing, or what people write between a name and its value. */
const SEPARATED = /^[\s"'`*]*(?:$|[:=;：﹕＝→|>-])/u;

/** How a line begins that is not `name: value`, and whether that may be the name of a field. */
export function firstWord(line: string): {
  readonly word: string;
  readonly rest: string;
  readonly isSeparated: boolean;
} {
  const [, word = '', rest = ''] = FIRST_WORD.exec(line) ?? [];
  return { word, rest, isSeparated: word !== '' && SEPARATED.test(rest) };
}
