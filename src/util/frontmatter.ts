import { isRecord } from './own.js';
import { plainHead } from './plain-head.js';
import { err, ok, type Result } from './result.js';

export interface FrontmatterProblem {
  /** From 1, in the file. */
  readonly line: number;
  readonly message: string;
}

export interface Frontmatter {
  readonly fields: Readonly<Record<string, unknown>>;
  readonly body: string;
  /** From 1: where the body begins in the file. */
  readonly bodyLine: number;
  readonly problem?: FrontmatterProblem;
  /**
   * `yaml`: the head means exactly this. `lines`: it is not what YAML allows, or more than was read
   * here; what could be understood line by line is in `fields`. `none`: there is no head.
   */
  readonly how: 'yaml' | 'lines' | 'none';
  /** The line of each field at the left edge, where whoever read them knows; absent: look for yourself. */
  readonly lines?: ReadonlyMap<string, number>;
}

/** A reader of YAML without aliases, tags and merge keys. Throws for what is not YAML. */
export type ParseYaml = (text: string) => unknown | Promise<unknown>;

export interface FrontmatterOptions {
  /** The fields that the line reader may take out of a broken head; all of them when absent. */
  readonly known?: readonly string[];
}

/** The head of a Markdown file, as far as it goes without a YAML library: the shapes that people write. */
export function readFrontmatter(text: string, options: FrontmatterOptions = {}): Frontmatter {
  const plain = plainHead(text);
  if (plain !== undefined) return plain;
  const split = splitHead(text);
  if (split.kind === 'whole') return split.none;
  const simple = readSimple(split);
  return simple.ok ? simple.value : byLines(split, options, simple.error);
}

/** The same, with a YAML library for what the simple reader is not sure of. */
export async function loadFrontmatter(
  text: string,
  options: FrontmatterOptions & { readonly parseYaml?: ParseYaml } = {},
): Promise<Frontmatter> {
  const plain = plainHead(text);
  if (plain !== undefined) return plain;
  const split = splitHead(text);
  if (split.kind === 'whole') return split.none;
  const simple = readSimple(split);
  if (simple.ok) return simple.value;
  if (options.parseYaml === undefined) return byLines(split, options, simple.error);
  const { body, bodyLine, lines, line } = split;
  try {
    const fields = plainFields(await options.parseYaml(lines.join('\n')));
    return { fields, body, bodyLine, how: 'yaml' };
  } catch (thrown) {
    const message =
      thrown instanceof Error ? (thrown.message.split('\n')[0] ?? '') : String(thrown);
    return byLines(split, options, { line: line + lineOf(thrown) - 1, message });
  }
}

/** More than this is no head. */
const LONGEST_HEAD = 256 * 1024;

interface Head {
  readonly kind: 'head';
  readonly lines: readonly string[];
  /** Of the first of them. */
  readonly line: number;
  readonly body: string;
  readonly bodyLine: number;
}

function splitHead(source: string): Head | { readonly kind: 'whole'; readonly none: Frontmatter } {
  const bare = source.startsWith('\uFEFF') ? source.slice(1) : source;
  const text = bare.includes('\r') ? bare.replace(/\r\n?/g, '\n') : bare;
  const whole = (message?: string, line = 1) => ({
    kind: 'whole' as const,
    none: {
      fields: {},
      body: text,
      bodyLine: 1,
      how: 'none' as const,
      ...(message === undefined ? {} : { problem: { line, message } }),
    },
  });
  const open = /^(?:[ \t]*\n)*---[ \t]*\n/.exec(text.slice(0, LONGEST_HEAD))?.[0];
  if (open === undefined) return whole();
  const line = open.split('\n').length;
  const close = /(?:^|\n)(?:---|\.\.\.)[ \t]*(?:\n|$)/.exec(
    text.slice(open.length, open.length + LONGEST_HEAD),
  );
  if (close === null) return whole('the head is not closed', line - 1);
  const lines = text.slice(open.length, open.length + close.index).split('\n');
  const written = lines.filter((one) => one.trim() !== '' && !one.startsWith('#'));
  // Text between two rulers, which only looks like a head.
  if (
    written.length > 0 &&
    !written.some((one) => /^\s*(?:[\w.-]+|"[^"]*"|'[^']*')\s*:|^[{[]/.test(one))
  ) {
    return whole('the head holds no fields', line);
  }
  const bodyLine = line + (close.index === 0 && close[0][0] !== '\n' ? 0 : lines.length) + 1;
  const body = text.slice(open.length + close.index + close[0].length);
  return { kind: 'head', lines, line, body, bodyLine };
}

/** A field and the lines that belong to it. */
interface Group {
  readonly key: string;
  readonly rest: string;
  readonly lines: string[];
  readonly line: number;
}

const FIELD = /^([A-Za-z_][\w.-]*) *:(?:[ \t]+([^\n]*))?$/;

/** `stray`: the first line that belongs to no field. */
function groupsOf({ lines, line }: Head): { groups: Group[]; stray: number | undefined } {
  const groups: Group[] = [];
  let stray: number | undefined;
  for (const [index, raw] of lines.entries()) {
    const field = FIELD.exec(raw);
    const last = groups.at(-1);
    if (field !== null) {
      groups.push({
        key: field[1] ?? '',
        rest: (field[2] ?? '').trimEnd(),
        lines: [],
        line: line + index,
      });
    } else if (
      raw.trim() === '' ||
      /^#/.test(raw) ||
      (last !== undefined && /^(?: |-(?: |$))/.test(raw))
    ) {
      last?.lines.push(raw);
    } else stray ??= line + index;
  }
  return { groups, stray };
}

function readSimple(head: Head): Result<Frontmatter, FrontmatterProblem> {
  const { groups, stray } = groupsOf(head);
  if (stray !== undefined) return err({ line: stray, message: 'it is not "field: value"' });
  const fields = new Map<string, unknown>();
  for (const group of groups) {
    const { key, line } = group;
    if (fields.has(key)) return err({ line, message: `"${key}" stands twice` });
    if (key === '__proto__') return err({ line, message: `"${key}" is no field` });
    const value = simpleValue(group);
    if (!value.ok) return err({ line, message: `"${key}" ${value.error}` });
    fields.set(key, value.value);
  }
  const { body, bodyLine } = head;
  return ok({ fields: Object.fromEntries(fields), body, bodyLine, how: 'yaml' });
}

type Value = Result<unknown, string>;

/** Exactly what YAML makes of it, or an error where that is not certain. */
function simpleValue({ rest, lines }: Group): Value {
  const style = /^([|>])(-?)(?: +#.*)?$/.exec(rest);
  if (style !== null) return blockText(lines, { folded: style[1] === '>', clip: style[2] === '' });
  const more = lines.filter((line) => line.trim() !== '' && !/^ *#/.test(line));
  if (rest === '' || rest.startsWith('#')) {
    return more.length === 0 ? ok(null) : itemsOf(more);
  }
  if (more.length === 0) return inlineValue(rest);
  // A text that goes on in the next line; a comment would have ended it.
  if (more.length !== lines.join('\n').trimEnd().split('\n').length || /\s#/.test(rest)) {
    return err('is more than one line');
  }
  const parts = [rest, ...more.map((line) => line.trim())];
  const isPlain = parts.every((part) => isPlainText(part) && !part.includes(' #'));
  return isPlain ? ok(parts.join(' ')) : err('is more than one line');
}

function inlineValue(text: string): Value {
  const list = /^\[(.*)\](?: +#.*)?$/.exec(text);
  if (list !== null) return flowList(list[1] ?? '');
  const quoted = quotedText(text);
  if (quoted !== undefined) return quoted;
  const plain = withoutComment(text);
  return isPlainText(plain) ? coreScalar(plain) : err('has to stand in quotes');
}

function quotedText(text: string): Value | undefined {
  if (!/^["']/.test(text)) return undefined;
  const single = /^'((?:[^']|'')*)'(?: +#.*)?$/.exec(text);
  if (single !== null) return ok((single[1] ?? '').replaceAll("''", "'"));
  const double = /^("(?:[^"\\]|\\.)*")(?: +#.*)?$/.exec(text);
  try {
    if (double !== null) return ok(JSON.parse(double[1] ?? ''));
  } catch {
    // YAML knows more escapes than JSON.
  }
  return err('is quoted in a way that is not closed or not known');
}

/** One line that YAML reads as a text without quotes, whatever stands around it. */
function isPlainText(text: string): boolean {
  return (
    /^(?:[^\s&*!|>%@`{}[\],#'"?:-]|[?:-](?=\S))/.test(text) &&
    !/:(?:\s|$)|[\u0000-\u001f\u007f\ufeff\ufffe\uffff]/.test(text)
  );
}

/** What YAML makes of a text without quotes. */
function coreScalar(text: string): Value {
  if (/^(?:~|null|Null|NULL)$/.test(text)) return ok(null);
  if (/^(?:true|True|TRUE)$/.test(text)) return ok(true);
  if (/^(?:false|False|FALSE)$/.test(text)) return ok(false);
  if (/^[-+]?(?:\.\d+|\d+(?:\.\d*)?)(?:[eE][-+]?\d+)?$/.test(text)) return ok(Number(text));
  if (/^(?:0[ox][\da-fA-F]+|[-+]?\.(?:inf|nan))$/i.test(text)) return err('is an unusual number');
  return ok(text);
}

/** The inside of `[a, "b, c"]`. */
function flowList(inside: string): Value {
  const items: unknown[] = [];
  const parts = splitOutsideQuotes(inside);
  if (parts.at(-1)?.trim() === '') parts.pop();
  for (const part of parts) {
    const text = part.trim();
    const value = quotedText(text) ?? flowScalar(text);
    if (!value.ok) return value;
    items.push(value.value);
  }
  return ok(items);
}

function flowScalar(text: string): Value {
  return isPlainText(text) && !/[[\]{}]| #/.test(text)
    ? coreScalar(text)
    : err('is a list with something that has to stand in quotes');
}

function splitOutsideQuotes(text: string): string[] {
  const parts: string[] = [];
  let from = 0;
  let quote = '';
  let isBegun = false;
  for (let at = 0; at < text.length; at++) {
    const char = text.charAt(at);
    if (quote === '"' && char === '\\') at++;
    else if (quote !== '') quote = char === quote ? '' : quote;
    // A quotation begins an item; elsewhere it is an apostrophe.
    else if ((char === '"' || char === "'") && !isBegun) quote = char;
    else if (char === ',') {
      parts.push(text.slice(from, at));
      from = at + 1;
      isBegun = false;
      continue;
    }
    isBegun ||= char.trim() !== '';
  }
  return [...parts, text.slice(from)];
}

function itemsOf(lines: readonly string[]): Value {
  const indent = /^ */.exec(lines[0] ?? '')?.[0] ?? '';
  const items: unknown[] = [];
  for (const line of lines) {
    const item = line.startsWith(`${indent}- `) ? line.slice(indent.length + 2).trim() : '';
    if (item === '' || item.startsWith('[')) return err('is more than a list of texts');
    const value = inlineValue(item);
    if (!value.ok) return value;
    items.push(value.value);
  }
  return ok(items);
}

function blockText(lines: readonly string[], how: { folded: boolean; clip: boolean }): Value {
  const end = lines.findLastIndex((line) => line.trim() !== '') + 1;
  const content = lines.slice(0, end);
  const indent = /^ */.exec(content.find((line) => line.trim() !== '') ?? '')?.[0] ?? '';
  const unclear = content.some(
    (line) =>
      (line.trim() === '' ? line.length > indent.length : !line.startsWith(indent)) ||
      line.includes('\t') ||
      (how.folded && /\s$|^ /.test(line.slice(indent.length))),
  );
  if (unclear || (indent === '' && content.length > 0)) return err('is indented in an unclear way');
  const texts = content.map((line) => line.slice(indent.length));
  const joined = how.folded
    ? texts
        .join('\n')
        .replace(/(?<!\n)(\n+)(?!\n)/g, (breaks) => (breaks.length === 1 ? ' ' : breaks.slice(1)))
    : texts.join('\n');
  return ok(joined !== '' && how.clip ? `${joined}\n` : joined);
}

// What people mean by a head that is no YAML: `description: Use when: …`, `paths: **/*.ts`.
function byLines(
  head: Head,
  options: FrontmatterOptions,
  problem: FrontmatterProblem,
): Frontmatter {
  const fields = new Map<string, unknown>();
  const unclear = new Set(['__proto__']);
  for (const group of groupsOf(head).groups) {
    const { key } = group;
    if (options.known !== undefined && !options.known.includes(key)) continue;
    if (unclear.has(key)) continue;
    const simple = simpleValue(group);
    const value = simple.ok ? simple.value : meantValue(group);
    const stood = fields.get(key);
    if (value === undefined) unclear.add(key);
    else if (fields.has(key) && JSON.stringify(stood) !== JSON.stringify(value)) unclear.add(key);
    else fields.set(key, value);
  }
  // A field that says two things, or nothing clear, says nothing.
  for (const key of unclear) fields.delete(key);
  const { body, bodyLine } = head;
  return { fields: Object.fromEntries(fields), body, bodyLine, problem, how: 'lines' };
}

/** Undefined when it begins something that it does not end. */
function meantValue({ rest, lines }: Group): unknown {
  const more = lines.map((line) => line.trim()).filter((line) => line !== '' && !/^#/.test(line));
  if (rest === '' || rest.startsWith('#')) {
    const items = more.map((line) => meantText(/^- +(.*)$/.exec(line)?.[1] ?? ''));
    return items.some((item) => item === undefined || item === '') ? undefined : items;
  }
  if (/^[|>]/.test(rest)) return undefined;
  const text = [rest, ...more].join(' ');
  const list = /^\[([^[\]]*)\]$/.exec(withoutComment(text))?.[1];
  if (list === undefined) return meantText(text);
  const items = splitOutsideQuotes(list).map((item) => meantText(item.trim()));
  return items.includes(undefined) ? undefined : items.filter((item) => item !== '');
}

function meantText(text: string): string | undefined {
  const quoted = quotedText(text);
  if (quoted?.ok === true) return String(quoted.value);
  const first = text.charAt(0);
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

const DEEPEST = 32;
const MOST_NODES = 10_000;

/** Data and nothing else out of what a library made. Throws for what is not a table of fields. */
function plainFields(value: unknown): Record<string, unknown> {
  let nodes = 0;
  const plain = (part: unknown, depth: number): unknown => {
    // fail-closed: what refers to itself again and again would grow without end when written out.
    if (depth > DEEPEST || ++nodes > MOST_NODES)
      throw new Error('it is nested too deeply or too long');
    if (Array.isArray(part)) return part.map((item) => plain(item, depth + 1));
    if (isRecord(part)) {
      const prototype: unknown = Object.getPrototypeOf(part);
      if (prototype !== null && prototype !== Object.prototype)
        throw new Error('it holds no plain data');
      const entries = Object.entries(part);
      if (entries.some(([key]) => key === '__proto__')) throw new Error('"__proto__" is no field');
      return Object.fromEntries(entries.map(([key, one]) => [key, plain(one, depth + 1)]));
    }
    if (part === null || part === undefined) return null;
    if (['string', 'number', 'boolean'].includes(typeof part)) return part;
    throw new Error('it holds no plain data');
  };
  if (value === null || value === undefined) return {};
  if (!isRecord(value)) throw new Error('it is no list of fields');
  return plain(value, 0) as Record<string, unknown>;
}

/** YAML libraries tell lines in `linePos`. */
function lineOf(thrown: unknown): number {
  if (!isRecord(thrown) || !Array.isArray(thrown.linePos)) return 1;
  const [first] = thrown.linePos as readonly unknown[];
  return isRecord(first) && typeof first.line === 'number' ? first.line : 1;
}
