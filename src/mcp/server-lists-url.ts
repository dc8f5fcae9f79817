/**
 * Whether an address fits a pattern of an administrator's list. `*` stands for anything inside of
 * the host, or inside of path and query, never across: `https://*.example.com/*` cannot be met by a
 * path that looks like a host. Without a path any path fits. Case counts in the path alone.
 *
 * `refuses`: in doubt a pattern that forbids fits, and one that allows does not.
 */
export function urlFits(pattern: string, url: string, refuses: boolean): boolean {
  if (pattern === '*') return true;
  const address = parsed(url);
  // fail-closed: what cannot be read is not what was allowed.
  if (address === undefined) return false;
  const { scheme, host, path } = parts(pattern);
  if (!schemeFits(scheme, address.protocol.slice(0, -1), refuses)) return false;
  if (!hostFits(host, address, refuses)) return false;
  if (path === '') return true;
  const whole = `${address.pathname}${address.search}`;
  if (wildcard(path, whole)) return true;
  return (
    refuses &&
    [address.pathname, decoded(whole), decoded(address.pathname)].some((one) => wildcard(path, one))
  );
}

/** Iterative and without backtracking over more than one star: long texts cost no more than their square. */
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
  /** With its slash; empty when the pattern has none. */
  readonly path: string;
}

function parts(pattern: string): Parts {
  const found = /^(?:([a-z*][a-z0-9+.*-]*):\/\/)?([^/?#]*)(.*)$/is.exec(pattern);
  const [, scheme, host = '', path = ''] = found ?? [];
  return { scheme: scheme?.toLowerCase(), host: host.toLowerCase(), path };
}

const SECURE: ReadonlySet<string> = new Set(['https', 'wss']);
/** The same door under another name. */
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
  const named = /^(.*?)(?::([\d*]+))?$/s.exec(pattern.startsWith('[') ? '' : pattern);
  const name = pattern.startsWith('[') ? pattern.replace(/\]:[\d*]+$/, ']') : (named?.[1] ?? '');
  const wantedPort = pattern.startsWith('[') ? /\]:([\d*]+)$/.exec(pattern)?.[1] : named?.[2];
  if (!wildcard(ascii(name.replace(/\.$/, '')), host)) return false;
  if (wantedPort !== undefined) return wildcard(wantedPort, port);
  // A pattern that forbids a host forbids it on every port.
  return refuses || name === '*' || address.port === '';
}

/** A host of other letters is compared in the form that addresses carry. */
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
