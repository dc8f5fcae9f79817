import { HttpError } from './http-error.js';

export interface RequestLine {
  readonly method: string;
  /** A path, or for a proxy the whole address. */
  readonly path: string;
  readonly host: string;
  readonly bodyBytes: number | undefined;
}

/** By their names, in whatever case they are sent. */
export type Headers = Readonly<Record<string, string>>;

/** All that goes over the line before the body. Throws `HttpError` for what no header may hold. */
export function requestHead(line: RequestLine, own: Headers, ofProxy: Headers): string {
  const { before, behind } =
    ofProxy === NONE ? plainParts(line, own) : headParts(line, own, ofProxy);
  return `${before}${lengthLine(line)}${behind}`;
}

/** The host that a request's headers name, as TLS is told it. */
export function namedHost(own: Headers, host: string): string {
  let named = host;
  // The last one is sent, too.
  for (const [name, value] of Object.entries(own)) {
    if (name.toLowerCase() === 'host') named = value;
  }
  return named;
}

const HAVE_BODIES: readonly string[] = ['POST', 'PUT', 'PATCH'];

function lengthLine({ method, bodyBytes }: RequestLine): string {
  if (bodyBytes !== undefined) return `content-length: ${bodyBytes}\r\n`;
  return HAVE_BODIES.includes(method) ? 'content-length: 0\r\n' : '';
}

/** Of a head all but the length of the body: what stands before that, and behind. */
interface HeadParts {
  readonly before: string;
  readonly behind: string;
}

interface KnownHead extends Pick<RequestLine, 'method' | 'path' | 'host'> {
  /** A copy: whose headers these are may change them. */
  readonly own: Headers;
  /** The headers themselves, where nobody can change them. */
  readonly frozen: Headers | undefined;
  readonly parts: HeadParts;
}

/** Turn after turn the same headers go to the same host. */
let last: KnownHead | undefined;

function plainParts(line: RequestLine, own: Headers): HeadParts {
  const { method, path, host } = line;
  if (last?.method === method && last.path === path && last.host === host) {
    if (last.frozen === own || hasSameEntries(last.own, own)) return last.parts;
  }
  const parts = headParts(line, own, NONE);
  const frozen = Object.isFrozen(own) ? own : undefined;
  last = { method, path, host, own: { ...own }, frozen, parts };
  return parts;
}

function headParts({ method, path, host }: RequestLine, own: Headers, ofProxy: Headers): HeadParts {
  // fail-closed: a method with a line end would be a request of somebody else's making.
  if (!NAME.test(method)) throw new HttpError('other', 'the method is none that HTTP has');
  const lines = checkedLines(host, own, ofProxy);
  return { before: `${method} ${path} HTTP/1.1\r\n${lines.host}`, behind: `${lines.others}\r\n` };
}

/** For a request that no proxy is asked for. */
export const NONE: Headers = {};

function hasSameEntries(a: Headers, b: Headers): boolean {
  const names = Object.keys(a);
  if (Object.keys(b).length !== names.length) return false;
  for (const name of names) if (a[name] !== b[name]) return false;
  return true;
}

const NAME = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/;
const NOT_IN_VALUES = /[^\t\x20-\x7e\x80-\xff]/;

/** By their names in lower case, so that none is sent twice: the request's own win, but not over its length. */
function checkedLines(
  host: string,
  own: Headers,
  ofProxy: Headers,
): { readonly host: string; readonly others: string } {
  const headers = new Map<string, string>([['host', `host: ${host}\r\n`]]);
  for (const [name, value] of [...Object.entries(ofProxy), ...Object.entries(own)]) {
    const lower = name.toLowerCase();
    if (lower === 'content-length') continue;
    // fail-closed: a value with a line end would be headers, or a whole request, of somebody else's making.
    if (!NAME.test(name) || NOT_IN_VALUES.test(value) || lower === 'transfer-encoding') {
      throw new HttpError('other', `the header "${name.slice(0, 60)}" cannot be sent as it stands`);
    }
    headers.set(lower, `${name}: ${value}\r\n`);
  }
  if (!headers.has('connection')) headers.set('connection', 'connection: keep-alive\r\n');
  const [first = '', ...others] = headers.values();
  return { host: first, others: others.join('') };
}
