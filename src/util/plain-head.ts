/** The fields of a plain head. Each stands on a line of its own, the first on line 2 of the file. */
export interface PlainFields {
  /** As they are written, in their order; no name stands twice. */
  readonly names: readonly string[];
  /** Texts of one line, each at the place of its name. */
  readonly values: readonly string[];
  /** Where the body begins in the text. */
  readonly bodyAt: number;
}

/** The head of a Markdown file in which nothing can be read in two ways. */
export interface PlainHead {
  /** Every field is a text of one line. */
  readonly fields: Readonly<Record<string, string>>;
  /** On which line of the file each stands, in their order. */
  readonly lines: ReadonlyMap<string, number>;
  readonly body: string;
  /** From 1: where the body begins in the file. */
  readonly bodyLine: number;
  /** It means exactly this. */
  readonly how: 'yaml';
  readonly doubtful: readonly never[];
  readonly unclear: ReadonlyMap<string, number>;
}

/** The line that opens a head and the one that closes it. */
const RULER = '---\n';
/** A name at the left edge, and a value that begins with a letter. */
const FIELD = /[A-Za-z][A-Za-z0-9_-]*: [A-Za-z][^\n]*\n/y;
const BETWEEN = ': ';
const LETTER_FIRST = /^[A-Za-z]/;
/** What ends a text without quotes, or is none: a further colon, a comment, blanks and controls, a word of YAML. */
const UNCLEAR =
  /:(?:\s|$)|\s#|\s$|[\u0000-\u001f\u007f-\u009f\u2028\u2029\ufeff\ufffe\uffff]|^(?:[Tt][Rr][Uu][Ee]|[Ff][Aa][Ll][Ss][Ee]|[Nn][Uu][Ll][Ll])$/;

/**
 * Reads what most heads are: rulers of three dashes around `name: text` in single lines, as YAML takes
 * them and every reader of lines too. Undefined for whatever else there is or might be: another reader
 * decides what that means. It is one pass over the head.
 */
export function plainHead(text: string): PlainHead | undefined {
  const found = plainFields(text);
  return found === undefined ? undefined : headFrom(found, text);
}

/** The same without a table of the fields and without the body: for those who look at hundreds of files. */
export function plainFields(text: string): PlainFields | undefined {
  if (!text.startsWith(RULER)) return undefined;
  const names: string[] = [];
  const values: string[] = [];
  let at = RULER.length;
  for (;;) {
    FIELD.lastIndex = at;
    if (!FIELD.test(text)) {
      if (names.length === 0 || !text.startsWith(RULER, at)) return undefined;
      return { names, values, bodyAt: at + RULER.length };
    }
    const end = FIELD.lastIndex;
    const between = text.indexOf(BETWEEN, at);
    const name = text.slice(at, between);
    const value = text.slice(between + BETWEEN.length, end - 1);
    if (UNCLEAR.test(value) || names.includes(name) || end > LONGEST_PLAIN) return undefined;
    names.push(name);
    values.push(value);
    at = end;
  }
}

/** Whether a value of one line is a text that every reader takes as it stands. */
export function isPlainText(value: string): boolean {
  return LETTER_FIRST.test(value) && !UNCLEAR.test(value);
}

/** All of the head whose fields were found in a text. */
export function headFrom({ names, values, bodyAt }: PlainFields, text: string): PlainHead {
  const fields: Record<string, string> = {};
  const lines = new Map<string, number>();
  const unclear = new Map<string, number>();
  names.forEach((name, index) => {
    fields[name] = values[index] ?? '';
    lines.set(name, lineOf(index));
  });
  const body = withPlainBreaks(text.slice(bodyAt));
  return { fields, lines, body, bodyLine: bodyLineOf(names), how: 'yaml', doubtful: NONE, unclear };
}

/** From 1: where the field stands in the file that is the first, second … of its head. */
function lineOf(index: number): number {
  return index + 2;
}

/** From 1: where the body begins below these fields. */
function bodyLineOf(names: PlainFields['names']): number {
  return lineOf(names.length) + 1;
}

const NONE: readonly never[] = [];

/** Longer heads are for the reader that knows what they may cost. */
export const LONGEST_PLAIN = 16 * 1024;

function withPlainBreaks(text: string): string {
  return text.includes('\r') ? text.replace(/\r\n?/g, '\n') : text;
}
