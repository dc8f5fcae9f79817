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
}

const OPENING = '---\n';
const CLOSING = /---\n/y;
/** A name at the left edge, and a value that begins with a letter. */
const FIELD = /([A-Za-z][A-Za-z0-9_-]*): ([A-Za-z][^\n]*)\n/y;
/** What ends a text without quotes, or is none: a further colon, a comment, blanks and controls, a word of YAML. */
const UNCLEAR =
  /:(?:\s|$)|\s#|\s$|[\u0000-\u001f\u007f-\u009f\u2028\u2029\ufeff\ufffe\uffff]|^(?:true|false|null)$/i;

/**
 * Reads what most heads are: rulers of three dashes around `name: text` in single lines, as YAML takes
 * them and every reader of lines too. Undefined for whatever else there is or might be: another reader
 * decides what that means. It is one pass over the head.
 */
export function plainHead(text: string): PlainHead | undefined {
  if (!text.startsWith(OPENING)) return undefined;
  const fields: Record<string, string> = {};
  const lines = new Map<string, number>();
  let at = OPENING.length;
  for (let line = 2; ; line++) {
    FIELD.lastIndex = at;
    const found = FIELD.exec(text);
    if (found === null) {
      CLOSING.lastIndex = at;
      if (lines.size === 0 || !CLOSING.test(text)) return undefined;
      const body = withPlainBreaks(text.slice(CLOSING.lastIndex));
      return { fields, lines, body, bodyLine: line + 1, how: 'yaml' };
    }
    const [whole, name = '', value = ''] = found;
    at += whole.length;
    if (UNCLEAR.test(value) || lines.has(name) || at > LONGEST) return undefined;
    fields[name] = value;
    lines.set(name, line);
  }
}

/** Longer heads are for the reader that knows what they may cost. */
const LONGEST = 16 * 1024;

function withPlainBreaks(text: string): string {
  return text.includes('\r') ? text.replace(/\r\n?/g, '\n') : text;
}
