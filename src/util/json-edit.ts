import { isRecord } from './own.js';

/**
 * Puts items at the end of a list inside JSON text and leaves every other byte as it was. Missing
 * objects and the list itself are made. The text must be valid JSON, an object; undefined when some
 * value on the way is of another kind.
 */
export function appendToList(
  text: string,
  way: readonly string[],
  items: readonly unknown[],
): string | undefined {
  if (items.length === 0) return text;
  const root = JSON.parse(text) as unknown;
  let value: unknown = root;
  let depth = 0;
  for (; depth < way.length; depth++) {
    if (!isRecord(value)) return undefined;
    const key = way[depth] ?? '';
    if (!Object.hasOwn(value, key)) break;
    value = value[key];
  }
  const step = indentStep(text);
  if (depth === way.length) {
    if (!Array.isArray(value)) return undefined;
    return insert(text, spanOf(text, way), {
      parts: items.map((item) => JSON.stringify(item)),
      step,
    });
  }
  if (!isRecord(value)) return undefined;
  const missing = way.slice(depth);
  const key = missing[0] ?? '';
  const content = missing
    .slice(1)
    .reduceRight<unknown>((inner, name) => ({ [name]: inner }), [...items]);
  const span = spanOf(text, way.slice(0, depth));
  const isMultiline = text.slice(span.start, span.end).includes('\n');
  const inner =
    isMultiline || isEmptyContainer(text, span)
      ? reindented(JSON.stringify(content, null, step), `${lineIndent(text, span.start)}${step}`)
      : JSON.stringify(content);
  return insert(text, span, { parts: [`${JSON.stringify(key)}: ${inner}`], step });
}

/** The whitespace that one level of nesting adds in this text. */
export function indentStep(text: string): string {
  return /\n([ \t]+)\S/.exec(text)?.[1] ?? '  ';
}

export interface Span {
  readonly start: number;
  /** Behind the closing bracket. */
  readonly end: number;
}

/** Adds members or elements in front of the closing bracket, in the manner of those before. */
export function insert(
  text: string,
  span: Span,
  { parts, step }: { parts: readonly string[]; step: string },
): string {
  const close = span.end - 1;
  const outer = lineIndent(text, span.start);
  if (isEmptyContainer(text, span)) {
    const lines = parts.map((part) => `\n${outer}${step}${part}`).join(',');
    return `${text.slice(0, span.start + 1)}${lines}\n${outer}${text.slice(close)}`;
  }
  const lastEnd = text.slice(0, close).trimEnd().length;
  const isMultiline = text.slice(lastEnd, close).includes('\n');
  const between = isMultiline ? `,\n${outer}${step}` : ', ';
  const added = parts.map((part) => `${between}${part}`).join('');
  return `${text.slice(0, lastEnd)}${added}${text.slice(lastEnd)}`;
}

export function isEmptyContainer(text: string, { start, end }: Span): boolean {
  return text.slice(start + 1, end - 1).trim() === '';
}

/** The whitespace at the beginning of the line that an offset is on. */
export function lineIndent(text: string, offset: number): string {
  const lineStart = text.lastIndexOf('\n', offset - 1) + 1;
  return /^[ \t]*/.exec(text.slice(lineStart, offset))?.[0] ?? '';
}

export function reindented(text: string, indent: string): string {
  return text.replaceAll('\n', `\n${indent}`);
}

/** Where the value at the end of a way of keys stands. The last of equal keys counts, as in parsing. */
export function spanOf(text: string, way: readonly string[]): Span {
  let start = skipBlank(text, 0);
  for (const key of way) {
    let found: number | undefined;
    let at = skipBlank(text, start + 1);
    while (text[at] === '"') {
      const keyEnd = valueEnd(text, at);
      const name = JSON.parse(text.slice(at, keyEnd)) as string;
      const value = skipBlank(text, skipBlank(text, keyEnd) + 1);
      if (name === key) found = value;
      at = skipBlank(text, valueEnd(text, value));
      if (text[at] === ',') at = skipBlank(text, at + 1);
    }
    start = found ?? start;
  }
  return { start, end: valueEnd(text, start) };
}

/** Behind the value that begins here, in text that is known to be JSON. */
export function valueEnd(text: string, start: number): number {
  let depth = 0;
  for (let at = start; at < text.length; at++) {
    const char = text[at];
    if (char === '"') {
      at++;
      while (text[at] !== '"') at += text[at] === '\\' ? 2 : 1;
    } else if (char === '{' || char === '[') depth++;
    else if (char === '}' || char === ']') depth--;
    else if (depth === 0) {
      const scalar = /^[^\s,\]}]+/.exec(text.slice(at, at + 40))?.[0].length ?? 1;
      return at + scalar;
    }
    if (depth === 0) return at + 1;
  }
  return text.length;
}

export function skipBlank(text: string, from: number): number {
  let at = from;
  while (at < text.length && /[\s\uFEFF]/.test(text[at] ?? '')) at++;
  return at;
}
