import { isRecord } from './own.js';

/**
 * Puts items at the end of a list inside JSON text and leaves every other byte as it was. Missing
 * objects and the list itself are made. The text must be valid JSON, an object; undefined when some
 * value on the path is of another kind.
 */
export function appendToList(
  text: string,
  path: readonly string[],
  items: readonly unknown[],
): string | undefined {
  if (items.length === 0) return text;
  const { value, depth } = follow(text, path);
  if (depth < path.length) return setMember(text, path, items);
  if (!Array.isArray(value)) return undefined;
  return insert(
    text,
    spanOf(text, path),
    items.map((item) => JSON.stringify(item)),
  );
}

/**
 * Sets a member of an object inside JSON text and leaves every other byte as it was. Missing objects
 * on the path are made. The text must be valid JSON, an object; undefined when some value on the path
 * is of another kind.
 */
export function setMember(
  text: string,
  path: readonly string[],
  value: unknown,
): string | undefined {
  const step = indentStep(text);
  const { value: found, depth } = follow(text, path);
  if (depth === path.length) {
    const span = spanOf(text, path);
    const indent = lineIndent(text, span.start);
    return `${text.slice(0, span.start)}${shown(value, step, indent)}${text.slice(span.end)}`;
  }
  if (!isRecord(found)) return undefined;
  const [key = '', ...deeper] = path.slice(depth);
  const content = deeper.reduceRight<unknown>((inner, name) => ({ [name]: inner }), value);
  const span = spanOf(text, path.slice(0, depth));
  const isMultiline = text.slice(span.start, span.end).includes('\n');
  const inner =
    isMultiline || isEmptyContainer(text, span)
      ? shown(content, step, `${lineIndent(text, span.start)}${step}`)
      : JSON.stringify(content);
  return insert(text, span, [`${JSON.stringify(key)}: ${inner}`]);
}

/** Follows a path of keys as far as it exists. */
function follow(text: string, path: readonly string[]): { value: unknown; depth: number } {
  let value: unknown = JSON.parse(text);
  let depth = 0;
  for (const key of path) {
    if (!isRecord(value) || !Object.hasOwn(value, key)) break;
    value = value[key];
    depth++;
  }
  return { value, depth };
}

/** Removes a member, as often as its key occurs; undefined when there is none. */
export function removeMember(text: string, path: readonly string[]): string | undefined {
  const key = path.at(-1);
  const { value: holder, depth } = follow(text, path.slice(0, -1));
  if (key === undefined || depth < path.length - 1) return undefined;
  if (!isRecord(holder) || !Object.hasOwn(holder, key)) return undefined;
  let left = text;
  for (;;) {
    const shorter = withoutOne(left, path.slice(0, -1), key);
    if (shorter === undefined) return left;
    left = shorter;
  }
}

function withoutOne(text: string, path: readonly string[], key: string): string | undefined {
  const { start, end } = spanOf(text, path);
  let before = start + 1;
  for (const { name, valueEnd: stop, next } of membersOf(text, start)) {
    const hasNext = text[next] === ',';
    if (name === key) {
      const isFirst = before === start + 1;
      // With the comma behind it, or, at the end, the one before it.
      const from = hasNext || isFirst ? before : before - 1;
      const rest = hasNext ? next + 1 : isFirst ? end - 1 : stop;
      return `${text.slice(0, from)}${text.slice(rest)}`;
    }
    before = next + 1;
  }
  return undefined;
}

interface Member {
  readonly name: string;
  readonly valueStart: number;
  readonly valueEnd: number;
  /** Where the comma behind it is, or the closing bracket. */
  readonly next: number;
}

/** The members of the object that begins here, in text that is known to be JSON. */
function* membersOf(text: string, start: number): Generator<Member> {
  for (let at = skipBlank(text, start + 1); text[at] === '"'; ) {
    const keyEnd = endOfValue(text, at);
    const valueStart = skipBlank(text, skipBlank(text, keyEnd) + 1);
    const valueEnd = endOfValue(text, valueStart);
    const next = skipBlank(text, valueEnd);
    yield { name: JSON.parse(text.slice(at, keyEnd)), valueStart, valueEnd, next };
    if (text[next] !== ',') return;
    at = skipBlank(text, next + 1);
  }
}

/** The whitespace that one level of nesting adds in this text. */
function indentStep(text: string): string {
  return /\n([ \t]+)\S/.exec(text)?.[1] ?? '  ';
}

interface Span {
  readonly start: number;
  /** Behind the closing bracket. */
  readonly end: number;
}

/** Adds members or elements in front of the closing bracket, in the manner of those before. */
function insert(text: string, span: Span, parts: readonly string[]): string {
  const step = indentStep(text);
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

function isEmptyContainer(text: string, { start, end }: Span): boolean {
  return text.slice(start + 1, end - 1).trim() === '';
}

/** The whitespace at the beginning of the line that an offset is on. */
function lineIndent(text: string, offset: number): string {
  const lineStart = text.lastIndexOf('\n', offset - 1) + 1;
  return /^[ \t]*/.exec(text.slice(lineStart, offset))?.[0] ?? '';
}

function shown(value: unknown, step: string, indent: string): string {
  return JSON.stringify(value, null, step).replaceAll('\n', `\n${indent}`);
}

/** Where the value at the end of a path of keys is. The last of equal keys counts, as in parsing. */
function spanOf(text: string, path: readonly string[]): Span {
  let start = skipBlank(text, 0);
  for (const key of path) {
    const found = [...membersOf(text, start)].findLast(({ name }) => name === key);
    start = found?.valueStart ?? start;
  }
  return { start, end: endOfValue(text, start) };
}

/** Behind the value that begins here, in text that is known to be JSON. */
function endOfValue(text: string, start: number): number {
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

function skipBlank(text: string, from: number): number {
  let at = from;
  while (at < text.length && /[\s\uFEFF]/.test(text[at] ?? '')) at++;
  return at;
}
