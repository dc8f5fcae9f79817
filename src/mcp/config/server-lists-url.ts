/**
 * Whether an address matches a pattern of an administrator's list. `*` never crosses from host to path, so a
 * path that looks like a host does not match `https://*.example.com/*`. Without a path every path matches.
 * Only the path is case-sensitive.
 *
 * `refuses`: in doubt a deny pattern matches and an allow pattern does not.
 */
export function urlFits(pattern: string, url: string, refuses: boolean): boolean {
  if (pattern === '*') return true;
  const address = parsed(url);
  // fail-closed: an unparsable address is not allowed.
  if (address === undefined) return false;
  const { scheme, host, path } = parts(refuses ? withSlashes(pattern) : pattern);
  if (!schemeFits(scheme, address.protocol.slice(0, -1), refuses)) return false;
  if (!hostFits(host, address, refuses)) return false;
  if (path === '') return true;
  const whole = `${address.pathname}${address.search}`;
  return wildcard(path, whole) || (refuses && pathRefused(path, address));
}

/** Why a deny pattern can never match a usable address (http or ws, without a user); undefined when it can. */
export function whyNeverMatches(pattern: string): string | undefined {
  if (pattern === '*') return undefined;
  if (pattern.trim() !== pattern) return 'it begins or ends with a blank';
  if (/\p{Cc}/u.test(pattern)) return 'it holds a character that no address has';
  const { scheme, host } = parts(withSlashes(pattern));
  if (scheme !== undefined && !Object.keys(TWIN).some((one) => wildcard(scheme, one)))
    return `no server is reached by ${scheme}://`;
  if (host === '') return 'it names no host';
  if (host.includes('@')) return 'it has a user in front of the host, which no address may have';
  const { name, port } = hostParts(host);
  const isScheme = scheme === undefined && Object.hasOwn(TWIN, name.replace(/:$/, ''));
  if (isScheme) return `"${name}" is a scheme without its ://`;
  if (name === '' || name.endsWith(':') || refusedHost(name) === undefined)
    return `"${host}" is no host`;
  if (port !== undefined && /^\d+$/.test(port) && Number(port) > 65_535)
    return `${port} is not a port number`;
  return undefined;
}

/** fail-closed: a deny pattern also matches other spellings that servers treat as the same path. */
function pathRefused(pattern: string, { pathname, search }: URL): boolean {
  const [wanted = ''] = pattern.split('#');
  const patterns = [wanted, canonical(wanted), canonical(decoded(wanted))];
  // People often end a host with a bare slash, which matches every path.
  if (patterns.includes('')) return true;
  const query = patterns.find((one) => one.startsWith('?'));
  if (query !== undefined) return wildcard(query, search === '' ? '?' : search);
  const texts = [`${pathname}${search}`, pathname].flatMap((one) => {
    const forms = [one, canonical(one), canonical(decoded(one))];
    return [...forms, decoded(one), ...forms.map(withSlash)];
  });
  return patterns.some((one) => texts.some((text) => wildcard(one, text)));
}

/**
 * Normalises repeated and trailing slashes, dot segments and unnecessary escapes in the path; the query stays
 * unchanged.
 */
function canonical(text: string): string {
  const at = text.indexOf('?');
  const path = unescaped(at < 0 ? text : text.slice(0, at));
  const steps: string[] = [];
  for (const step of path.split('/')) {
    if (step === '..') steps.pop();
    else if (step !== '' && step !== '.') steps.push(step);
  }
  // A trailing question mark is not a query.
  const query = at < 0 || at === text.length - 1 ? '' : text.slice(at);
  return `${steps.map((step) => `/${step}`).join('')}${query}`;
}

/** URL parsers read a backslash before the query as a slash. */
function withSlashes(pattern: string): string {
  return pattern.replace(/^[^?#]*/, (front) => front.replaceAll('\\', '/'));
}

function withSlash(text: string): string {
  const at = text.indexOf('?');
  return at < 0 ? `${text}/` : `${text.slice(0, at)}/${text.slice(at)}`;
}

function unescaped(text: string): string {
  return text.replace(/%[0-9a-f]{2}/gi, (code) => {
    const character = String.fromCharCode(Number.parseInt(code.slice(1), 16));
    return /[\w.~-]/.test(character) ? character : code.toUpperCase();
  });
}

/** Matches iteratively and backtracks to the last star only, so time is at most quadratic. */
export function wildcard(pattern: string, text: string): boolean {
  let at = 0;
  let star = -1;
  let resume = 0;
  let p = 0;
  while (at < text.length) {
    if (p < pattern.length && pattern[p] === '*') {
      star = p++;
      resume = at;
    } else if (p < pattern.length && pattern[p] === text[at]) {
      p++;
      at++;
    } else if (star >= 0) {
      p = star + 1;
      at = ++resume;
    } else return false;
  }
  while (pattern[p] === '*') p++;
  return p === pattern.length;
}

interface Parts {
  readonly scheme: string | undefined;
  readonly host: string;
  /** Starts with a slash; empty when the pattern has no path. */
  readonly path: string;
}

function parts(pattern: string): Parts {
  const found = /^(?:([a-z*][a-z0-9+.*-]*):\/\/)?([^/?#]*)(.*)$/is.exec(pattern);
  const [, scheme, host = '', path = ''] = found ?? [];
  return { scheme: scheme?.toLowerCase(), host: host.toLowerCase(), path };
}

const SECURE: ReadonlySet<string> = new Set(['https', 'wss']);
/** The scheme that reaches the same port. */
const TWIN: Readonly<Record<string, string>> = {
  ws: 'http',
  wss: 'https',
  http: 'ws',
  https: 'wss',
};
const DEFAULT_PORT: Readonly<Record<string, string>> = {
  http: '80',
  ws: '80',
  https: '443',
  wss: '443',
};

function schemeFits(pattern: string | undefined, scheme: string, refuses: boolean): boolean {
  if (pattern === undefined) return refuses || SECURE.has(scheme);
  if (wildcard(pattern, scheme)) return true;
  return refuses && wildcard(pattern, TWIN[scheme] ?? '');
}

function hostFits(pattern: string, address: URL, refuses: boolean): boolean {
  const host = address.hostname.replace(/\.$/, '');
  const scheme = address.protocol.slice(0, -1);
  const port = address.port === '' ? (DEFAULT_PORT[scheme] ?? '') : address.port;
  const { name, port: wantedPort } = hostParts(pattern);
  const form = refuses ? refusedHost(name) : ascii(name.replace(/\.$/, ''));
  if (form === undefined || !wildcard(form, host)) return false;
  if (wantedPort !== undefined)
    return wildcard(refuses ? wantedPort.replace(/^0+(?=\d)/, '') : wantedPort, port);
  // A denied host is denied on every port.
  return refuses || name === '*' || address.port === '';
}

function hostParts(host: string): { readonly name: string; readonly port: string | undefined } {
  if (host.startsWith('['))
    return { name: host.replace(/\]:[\d*]+$/, ']'), port: /\]:([\d*]+)$/.exec(host)?.[1] };
  const named = /^(.*?)(?::([\d*]+))?$/s.exec(host);
  return { name: named?.[1] ?? '', port: named?.[2] };
}

/** The host of a deny pattern in the form of parsed URLs; undefined when no URL can have it. */
function refusedHost(name: string): string | undefined {
  if (!name.includes('*')) return parsed(`http://${name}/`)?.hostname.replace(/\.$/, '');
  const host = name
    .replace(/\.$/, '')
    .split('.')
    .map((label) => (label === '' ? '' : ascii(label)))
    .join('.');
  return /^(?:[a-z0-9._*-]+|\[[a-f0-9:.*]+\]?|\*?[a-f0-9:.*]+\])$/.test(host) ? host : undefined;
}

/** Converts an international host to the ASCII form of parsed URLs. */
function ascii(host: string): string {
  if (/^[\x20-\x7e]*$/.test(host) || host.includes('*')) return host;
  return parsed(`http://${host}/`)?.hostname ?? host;
}

function parsed(url: string): URL | undefined {
  try {
    return new URL(url);
  } catch {
    return undefined;
  }
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
