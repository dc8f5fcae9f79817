/** A Markdown file split into head and body; the head is not parsed yet. */
export interface SplitFile {
  /** The lines between the rulers; undefined: the file has no head. */
  readonly lines?: readonly string[];
  /** From 1: the line of the file where the head begins. */
  readonly line: number;
  readonly body: string;
  /** From 1: where the body begins in the file. */
  readonly bodyLine: number;
  /** Why what looks like a head is none. */
  readonly problem?: { readonly line: number; readonly message: string };
}

/** More than this is no head. */
const LONGEST_HEAD = 256 * 1024;

export function splitFile(source: string): SplitFile {
  const bare = source.startsWith('\uFEFF') ? source.slice(1) : source;
  const text = bare.includes('\r') ? bare.replace(/\r\n?/g, '\n') : bare;
  const whole: SplitFile = { line: 1, body: text, bodyLine: 1 };
  const open = /^(?:[ \t]*\n)*---[ \t]*\n/.exec(text.slice(0, LONGEST_HEAD))?.[0];
  if (open === undefined) return whole;
  const line = open.split('\n').length;
  const close = /(?:^|\n)(?:---|\.\.\.)[ \t]*(?:\n|$)/.exec(
    text.slice(open.length, open.length + LONGEST_HEAD),
  );
  if (close === null) {
    return { ...whole, problem: { line: line - 1, message: 'the head is not closed' } };
  }
  const lines = text.slice(open.length, open.length + close.index).split('\n');
  const written = lines.filter((one) => one.trim() !== '' && !one.startsWith('#'));
  // Text between two rulers, which only looks like a head.
  if (
    written.length > 0 &&
    !written.some((one) => /^\s*(?:[\w.-]+|"[^"]*"|'[^']*')\s*:|^(?:[{[]|\? )/.test(one))
  ) {
    return { ...whole, problem: { line, message: 'the head holds no fields' } };
  }
  const bodyLine = line + (close.index === 0 && close[0][0] !== '\n' ? 0 : lines.length) + 1;
  const body = text.slice(open.length + close.index + close[0].length);
  return { lines, line, body, bodyLine };
}

/** A field at the left edge of a head and the lines that belong to it, as written. */
export interface HeadGroup {
  readonly key: string;
  /** The text after the colon. */
  readonly rest: string;
  /** The lines below it. */
  readonly lines: readonly string[];
  /** From 1, in the file. */
  readonly line: number;
}

/** A line that is not YAML, or may not have been meant as the text that YAML takes it for. */
export interface DoubtfulLine {
  readonly text: string;
  readonly line: number;
  /** The field that the line belongs to. */
  readonly below?: string;
}

/** Without escapes: a name is what every reader takes it for. */
const NAME = /^(?:([A-Za-z0-9_][\w .-]*)|"([\w .-]+)"|'([\w .-]+)')$/;

/** The fields of a head by its lines alone, without parsing their values as YAML. */
export function headGroups({ lines = [], line }: Pick<SplitFile, 'lines' | 'line'>): {
  readonly groups: readonly HeadGroup[];
  readonly unparsed: readonly DoubtfulLine[];
} {
  const groups: (HeadGroup & { readonly lines: string[] })[] = [];
  const unparsed: DoubtfulLine[] = [];
  for (const [index, text] of lines.entries()) {
    const last = groups.at(-1);
    const field = fieldIn(text);
    if (field !== undefined) groups.push({ ...field, lines: [], line: line + index });
    else if (text.trim() === '' || text.startsWith('#')) last?.lines.push(text);
    else if (last !== undefined && /^(?:[ \t]|-(?: |$))/.test(text)) last.lines.push(text);
    else unparsed.push({ text, line: line + index, below: last?.key });
  }
  return { groups, unparsed };
}

/** `name: value`, split at the first colon in a single pass. */
function fieldIn(line: string): Pick<HeadGroup, 'key' | 'rest'> | undefined {
  const colon = line.indexOf(':');
  if (colon <= 0) return undefined;
  const match = NAME.exec(line.slice(0, colon).trimEnd());
  const rest = line.slice(colon + 1);
  if (match === null || (rest !== '' && !/^\s/.test(rest))) return undefined;
  return { key: match[1] ?? match[2] ?? match[3] ?? '', rest: rest.trimStart() };
}
