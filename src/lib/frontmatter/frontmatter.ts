import { isRecord } from '../own.js';
import {
  type DoubtfulLine,
  type HeadGroup,
  headGroups,
  type SplitFile,
  splitFile,
} from './head-text.js';
import { MOST_YAML, type ParseYaml, parseYaml as parseAnyYaml } from './parse-yaml.js';
import { doubtfulNames, valueByLines } from './tolerant-head.js';

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
   * `yaml`: the head is YAML. `lines`: YAML refuses it; each field was read by itself. `none`: there is
   * no head.
   */
  readonly how: 'yaml' | 'lines' | 'none';
  /** The line of each field at the left edge. */
  readonly lines: ReadonlyMap<string, number>;
  /** Lines that are not YAML and belong to no value, or to a text that may not have been meant as one. */
  readonly doubtful: readonly DoubtfulLine[];
  /** Names of fields without a clear value, with their lines; those in doubtful lines included. */
  readonly unclear: ReadonlyMap<string, number>;
}

/** A head that is not closed is searched this far for names. */
const MOST_LINES = 400;

/** The head of a Markdown file: as YAML, and where YAML refuses it field by field. */
export async function loadFrontmatter(
  text: string,
  { parseYaml = parseAnyYaml }: { readonly parseYaml?: ParseYaml | undefined } = {},
): Promise<Frontmatter> {
  const split = splitFile(text);
  if (split.lines === undefined) return withoutHead(split);
  const { body, bodyLine } = split;
  const { groups } = headGroups(split);
  const lines = new Map<string, number>();
  for (const { key, line } of groups) if (!lines.has(key)) lines.set(key, line);
  try {
    const fields = plainFields(await parseYaml(split.lines.join('\n')));
    return { fields, body, bodyLine, how: 'yaml', lines, doubtful: [], unclear: NO_LINES };
  } catch (thrown) {
    const message =
      thrown instanceof Error ? (thrown.message.split('\n')[0] ?? '') : String(thrown);
    const problem = { line: split.line + lineOf(thrown) - 1, message };
    return { ...(await byFields(split, parseYaml)), body, bodyLine, problem, how: 'lines', lines };
  }
}

const NO_LINES: ReadonlyMap<string, number> = new Map();

/** The line of a field, of a name in it or below it, or else of a text in it. */
export function findFieldLine(
  text: string,
  line: number | undefined,
  inner?: string,
): number | undefined {
  if (line === undefined || inner === undefined) return line;
  const lines = text.split(/\r\n?|\n/).slice(line - 1);
  const named = lines.findIndex((one, at) => at > 0 && one.trimStart().startsWith(`${inner}:`));
  const below = named === -1 ? lines.findIndex((one) => one.includes(inner)) : named;
  return below === -1 ? line : line + below;
}

function withoutHead({ body, problem }: SplitFile): Frontmatter {
  const none = { fields: {}, body, bodyLine: 1, how: 'none', lines: NO_LINES } as const;
  if (problem === undefined) return { ...none, doubtful: [], unclear: NO_LINES };
  const doubtful = body.split('\n', MOST_LINES).map((text, index) => ({ text, line: index + 1 }));
  return { ...none, problem, doubtful, unclear: doubtfulNames(doubtful) };
}

/** Each field by itself, so that one that YAML refuses does not take the others with it. */
async function byFields(
  split: SplitFile,
  parse: ParseYaml,
): Promise<Pick<Frontmatter, 'fields' | 'doubtful' | 'unclear'>> {
  const { groups, unparsed } = headGroups(split);
  const length = split.lines?.reduce((sum, line) => sum + line.length + 1, 0) ?? 0;
  const isShort = groups.length <= MOST_FIELDS && length <= MOST_YAML;
  const fields = new Map<string, unknown>();
  const unclear = new Map<string, number>();
  const doubtful: DoubtfulLine[] = [...unparsed];
  for (const group of groups) {
    const { key, line } = group;
    const exact = isShort ? await exactValue(group, parse) : NOT_EXACT;
    const value = exact.ok ? exact.value : valueByLines(group);
    if (!exact.ok) doubtful.push(...belowOf(group));
    const isOther =
      fields.has(key) && JSON.stringify(fields.get(key)) !== JSON.stringify(value ?? null);
    // fail-closed: a field that says two things, or nothing clear, says nothing.
    if (value === undefined || isOther || key === '__proto__') unclear.set(key, line);
    fields.set(key, value);
  }
  for (const key of unclear.keys()) fields.delete(key);
  for (const [name, line] of doubtfulNames(doubtful)) {
    if (!unclear.has(name)) unclear.set(name, line);
  }
  return { fields: Object.fromEntries(fields), doubtful, unclear };
}

/** Of a head with more the library is not asked about each: it would take long. */
const MOST_FIELDS = 200;
const NOT_EXACT = { ok: false } as const;

/** Tabs indent like two blanks. */
async function exactValue(
  { rest, lines }: HeadGroup,
  parse: ParseYaml,
): Promise<{ readonly ok: true; readonly value: unknown } | { readonly ok: false }> {
  const below = lines.map((line) =>
    line.replace(/^[ \t]+/, (indent) => indent.replaceAll('\t', '  ')),
  );
  try {
    const read = plainFields(await parse([`value: ${rest}`, ...below].join('\n')));
    return Object.keys(read).length === 1 ? { ok: true, value: read.value } : NOT_EXACT;
  } catch {
    // The line reader decides what it means.
    return NOT_EXACT;
  }
}

function belowOf({ key, rest, lines, line }: HeadGroup): readonly DoubtfulLine[] {
  const below = lines.map((text, index) => ({ text, line: line + index + 1, below: key }));
  return /^[{[]/.test(rest) ? [{ text: rest, line, below: key }, ...below] : below;
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
  if (!isRecord(value)) throw new Error('it is not a list of fields');
  return plain(value, 0) as Record<string, unknown>;
}

/** YAML libraries tell lines in `linePos`. */
function lineOf(thrown: unknown): number {
  if (!isRecord(thrown) || !Array.isArray(thrown.linePos)) return 1;
  const [first] = thrown.linePos as readonly unknown[];
  return isRecord(first) && typeof first.line === 'number' ? first.line : 1;
}
