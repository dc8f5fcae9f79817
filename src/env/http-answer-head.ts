export interface AnswerHead {
  readonly status: number;
  /** Lower-case names, values as they came; what is repeated is joined. */
  readonly headers: Readonly<Record<string, string>>;
  /** Of the body: a number of bytes, in pieces that say their size, or all until the connection ends. */
  readonly length: number | 'pieces' | 'rest';
  readonly keepsAlive: boolean;
  readonly keepAliveMs: number | undefined;
  /** With the empty line behind it. */
  readonly bytes: number;
}

/** Of many answers within a second the heads are the same, letter by letter. */
let last: { readonly text: string; readonly head: AnswerHead } | undefined;

/** The head that begins here, if it is the one that was parsed last: then nobody has to look for its end. */
export function sameHead(bytes: Buffer, at: number): AnswerHead | undefined {
  if (last === undefined) return undefined;
  return bytes.toString('latin1', at, at + last.text.length) === last.text ? last.head : undefined;
}

/** The head of an answer, given without the empty line behind it, or what is wrong with it. */
export function answerHead(text: string): AnswerHead | string {
  const head = parse(text);
  if (typeof head !== 'string') last = { text: text + HEAD_END, head };
  return head;
}

/** What stands behind a head, and nowhere in it. */
export const HEAD_END = '\r\n\r\n';

function parse(text: string): AnswerHead | string {
  if (UNEXPECTED.test(text)) return 'its head has characters or line ends that no head may have';
  const first = text.indexOf(LINE_END);
  const status = STATUS_LINE.exec(first === -1 ? text : text.slice(0, first));
  if (status === null) return 'the answer does not begin as one of HTTP/1.1';
  // Without a prototype: names come from outside.
  const headers: Record<string, string> = Object.create(null);
  for (let at = first; at !== -1; ) {
    const from = at + LINE_END.length;
    at = text.indexOf(LINE_END, from);
    const problem = addHeader(headers, at === -1 ? text.slice(from) : text.slice(from, at));
    if (problem !== undefined) return problem;
  }
  const length = lengthOf(headers);
  if (typeof length === 'object') return length.problem;
  return {
    status: Number(status[2]),
    headers,
    length,
    keepsAlive: length !== 'rest' && keepsAlive(headers.connection, status[1] === '1'),
    keepAliveMs: keepAliveMs(headers['keep-alive']),
    bytes: text.length + HEAD_END.length,
  };
}

const LINE_END = '\r\n';
/** A line end that is none, and control characters: all that readers are known to differ about. */
const UNEXPECTED = /\r(?!\n)|(?<!\r)\n|[\0-\x08\x0b\x0c\x0e-\x1f\x7f]/;
const STATUS_LINE = /^HTTP\/1\.([01]) ([1-9]\d\d)(?: .*)?$/;
const NAME = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/;

/** Of these the first counts. */
const ONLY_ONE: readonly string[] = [
  'age',
  'content-type',
  'etag',
  'expires',
  'last-modified',
  'location',
  'retry-after',
  'server',
];

function addHeader(headers: Record<string, string>, line: string): string | undefined {
  const colon = line.indexOf(':');
  const written = line.slice(0, Math.max(0, colon));
  // A name with a space behind it, or a line that goes on with the next one, means different things to
  // different readers.
  if (!NAME.test(written)) return 'a line of its head is no header';
  const name = written.toLowerCase();
  const value = withoutBlanks(line, colon + 1);
  const earlier = headers[name];
  if (earlier === undefined) headers[name] = value;
  else if (name === 'content-length') return 'it names two lengths';
  else if (!ONLY_ONE.includes(name)) headers[name] = `${earlier}, ${value}`;
  return undefined;
}

/** Spaces and tabs alone: what else looks empty is part of a value. */
function withoutBlanks(line: string, start: number): string {
  let from = start;
  let to = line.length;
  while (from < to && isBlank(line.charCodeAt(from))) from++;
  while (to > from && isBlank(line.charCodeAt(to - 1))) to--;
  return line.slice(from, to);
}

function isBlank(code: number): boolean {
  return code === 32 || code === 9;
}

function lengthOf(headers: Record<string, string>): AnswerHead['length'] | { problem: string } {
  const { 'transfer-encoding': encoding, 'content-length': length } = headers;
  if (encoding !== undefined) {
    if (length !== undefined) return { problem: 'it names a length for a body in pieces' };
    return encoding.toLowerCase() === 'chunked'
      ? 'pieces'
      : { problem: `its body comes as "${encoding.slice(0, 40)}", which nobody asked for` };
  }
  if (length === undefined) return 'rest';
  return /^\d{1,15}$/.test(length) ? Number(length) : { problem: 'its length is no number' };
}

function keepsAlive(connection: string | undefined, isNew: boolean): boolean {
  if (connection === undefined) return isNew;
  const words = connection.toLowerCase().split(/[\s,]+/);
  return isNew ? !words.includes('close') : words.includes('keep-alive');
}

function keepAliveMs(hint: string | undefined): number | undefined {
  const seconds = hint === undefined ? null : /(?:^|[\s,])timeout=(\d{1,9})/.exec(hint);
  return seconds === null ? undefined : Number(seconds[1]) * 1000;
}
