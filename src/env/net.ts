import type { RequestOptions } from 'node:http';
import { messageOf, systemCodeOf } from '../errors.js';
import { orAbort } from '../util/abort.js';
import { err, ok, type Result } from '../util/result.js';
import { isInternalName, isIpAddress, refusalOf } from './address.js';
import { proxyFor } from './http-proxy.js';
import { decodeBody, readBody } from './net-body.js';

export const MAX_FETCH_BYTES = 10 * 1024 * 1024;
export const FETCH_TIMEOUT_MS = 30_000;

export interface FetchRequest {
  readonly url: string;
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string | Uint8Array;
  readonly signal?: AbortSignal;
  /** For everything together: name resolution, connection, body. */
  readonly timeoutMs?: number;
  /** Holds for the bytes on the wire and again for what they expand to. */
  readonly maxBytes?: number;
  /** The one exception that can be made; all other inner networks stay closed. */
  readonly allow?: { readonly loopback: boolean };
}

export interface FetchResponse {
  readonly kind: 'response';
  readonly status: number;
  readonly statusText: string;
  /** Names in lower case; repeated headers joined with a comma. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Uint8Array;
}

/** The server points elsewhere. Nothing was followed: the next address needs its own check. */
export interface FetchRedirect {
  readonly kind: 'redirect';
  readonly status: number;
  readonly statusText: string;
  readonly redirect: string;
}

export interface FetchFailure {
  readonly reason:
    | 'invalid_url'
    | 'forbidden'
    | 'dns'
    | 'connection'
    | 'timeout'
    | 'too_large'
    | 'bad_response'
    | 'aborted';
  readonly message: string;
}

export type FetchResult = Result<FetchResponse | FetchRedirect, FetchFailure>;
export type GuardedFetch = (request: FetchRequest) => Promise<FetchResult>;

/** What tests and unusual networks replace. */
export interface NetDeps {
  /** Every address of a name. */
  readonly resolve?: (hostname: string) => Promise<readonly string[]>;
  /** Where the proxy variables are read from. */
  readonly environment?: Readonly<Record<string, string | undefined>>;
  /** A further certificate authority to trust, PEM. */
  readonly ca?: string;
}

/**
 * Fetches from the public network and nowhere else. The name is resolved here, refused when any of
 * its addresses belongs to an inner network, and the connection goes to exactly the addresses that
 * were judged, so that a second answer of the name server changes nothing.
 *
 * With HTTP_PROXY, HTTPS_PROXY or ALL_PROXY set (and the host not in NO_PROXY) the proxy resolves the name, out
 * of our sight: then literal addresses, internal names and names without a dot are judged here, and
 * what a public name resolves to is the proxy's to police.
 */
export async function guardedFetch(
  request: FetchRequest,
  deps: NetDeps = {},
): Promise<FetchResult> {
  const timeoutMs = request.timeoutMs ?? FETCH_TIMEOUT_MS;
  const deadline = new AbortController();
  const timer = setTimeout(() => deadline.abort(), timeoutMs);
  const signal =
    request.signal === undefined
      ? deadline.signal
      : AbortSignal.any([request.signal, deadline.signal]);
  try {
    return await fetchOnce({ ...request, signal }, deps);
  } catch (thrown) {
    if (request.signal?.aborted) return failure('aborted', 'the request was cancelled');
    if (deadline.signal.aborted) {
      return failure('timeout', `no complete answer within ${timeoutMs / 1000} s`);
    }
    return failure('connection', `${messageOf(thrown) || systemCodeOf(thrown) || 'failed'}`);
  } finally {
    clearTimeout(timer);
  }
}

type Bounded = FetchRequest & { readonly signal: AbortSignal };

async function fetchOnce(request: Bounded, deps: NetDeps): Promise<FetchResult> {
  const checked = checkUrl(request);
  if (!checked.ok) return checked;
  const url = checked.value;
  const proxy = proxyFor(url, deps.environment ?? process.env);
  if (proxy !== undefined) {
    const refused = refuseUnresolved(url);
    if (refused !== undefined) return failure('forbidden', refused);
    return exchange(url, request, { ...(await routeThrough(proxy, url)), ca: deps.ca });
  }
  const addresses = await judgedAddresses(url, request, deps);
  if (!addresses.ok) return addresses;
  return exchange(url, request, { lookup: pinnedTo(addresses.value), ca: deps.ca });
}

function checkUrl(request: FetchRequest): Result<URL, FetchFailure> {
  let url: URL;
  try {
    url = new URL(request.url);
  } catch {
    return failure('invalid_url', `"${request.url}" is not a valid URL`);
  }
  if (url.protocol !== 'http:' && url.protocol !== 'https:') {
    return failure('invalid_url', `only http and https are fetched, not "${url.protocol}"`);
  }
  const host = bareHost(url);
  const loopback = request.allow?.loopback === true;
  if (isIpAddress(host)) {
    const refused = refusalOf(host, host, { loopback });
    if (refused !== undefined) return failure('forbidden', refused);
  } else if (isInternalName(host) && !(loopback && /^(.+\.)?localhost\.?$/i.test(host))) {
    return failure('forbidden', `"${host}" is a name for an inner network`);
  }
  if (url.username !== '' || url.password !== '') {
    return failure('invalid_url', 'credentials in a URL are not sent; remove them');
  }
  return ok(url);
}

/** For a name that somebody else resolves: without a dot it can only mean something inner. */
function refuseUnresolved(url: URL): string | undefined {
  const host = bareHost(url).replace(/\.$/, '');
  if (isIpAddress(host) || host.includes('.') || host === 'localhost') return undefined;
  return `"${host}" has no domain and would be resolved inside the proxy's network`;
}

async function judgedAddresses(
  url: URL,
  request: Bounded,
  deps: NetDeps,
): Promise<Result<readonly string[], FetchFailure>> {
  const host = bareHost(url);
  if (isIpAddress(host)) return ok([host]);
  let addresses: readonly string[];
  try {
    addresses = await orAbort((deps.resolve ?? systemResolve)(host), request.signal);
  } catch (thrown) {
    if (request.signal.aborted) throw thrown;
    return failure('dns', `the name "${host}" could not be resolved (${messageOf(thrown)})`);
  }
  if (addresses.length === 0) return failure('dns', `the name "${host}" has no address`);
  for (const address of addresses) {
    // fail-closed: one inner address among many refuses the name; which one is used is not ours to bet on.
    const refused = refusalOf(host, address, { loopback: request.allow?.loopback === true });
    if (refused !== undefined) return failure('forbidden', refused);
  }
  return ok(addresses);
}

async function systemResolve(hostname: string): Promise<readonly string[]> {
  const { lookup } = await import('node:dns/promises');
  return (await lookup(hostname, { all: true })).map((found) => found.address);
}

type Lookup = NonNullable<RequestOptions['lookup']>;

function pinnedTo(addresses: readonly string[]): Lookup {
  const all = addresses.map((address) => ({ address, family: address.includes(':') ? 6 : 4 }));
  const first = all[0] ?? { address: '', family: 4 };
  return (_hostname, options, callback) => {
    if (options.all === true) callback(null, all);
    else callback(null, first.address, first.family);
  };
}

/** A tunnel for https; for http the request goes to the proxy with the whole URL in its first line. */
async function routeThrough(
  proxy: NonNullable<ReturnType<typeof proxyFor>>,
  url: URL,
): Promise<Route> {
  if (url.protocol === 'https:') {
    const { agentFor } = await import('./https-agent.js');
    return { via: { agent: agentFor(proxy.url) } };
  }
  const via = {
    hostname: bareHost(proxy.url),
    port: proxy.port,
    path: `${url.origin}${url.pathname}${url.search}`,
    headers: proxy.headers,
  };
  return { via, secure: proxy.url.protocol === 'https:' };
}

interface Route {
  readonly lookup?: Lookup;
  readonly ca?: string | undefined;
  /** Where to connect instead of the URL's host, and what to ask for there. */
  readonly via?: RequestOptions;
  readonly secure?: boolean;
}

async function exchange(url: URL, request: Bounded, route: Route): Promise<FetchResult> {
  const secure = route.secure ?? url.protocol === 'https:';
  const client = secure ? await import('node:https') : await import('node:http');
  const maxBytes = request.maxBytes ?? MAX_FETCH_BYTES;
  const options: RequestOptions & { ca?: string; rejectUnauthorized?: boolean } = {
    hostname: bareHost(url),
    port: url.port === '' ? undefined : Number(url.port),
    path: `${url.pathname}${url.search}`,
    method: request.method ?? 'GET',
    // A connection of its own: one kept from an earlier request was judged for that one.
    agent: false,
    ...route.via,
    headers: { ...cleanHeaders(request.headers), host: url.host, ...route.via?.headers },
    signal: request.signal,
    ...(route.lookup === undefined ? {} : { lookup: route.lookup }),
    ...(secure ? { rejectUnauthorized: true, ...(route.ca ? { ca: route.ca } : {}) } : {}),
  };
  const response = await new Promise<import('node:http').IncomingMessage>((resolve, reject) => {
    const outgoing = client.request(options, resolve);
    outgoing.once('error', reject);
    outgoing.end(request.body);
  });
  const status = response.statusCode ?? 0;
  const statusText = response.statusMessage ?? '';
  const location = response.headers.location;
  if (REDIRECTS.has(status) && location !== undefined) {
    response.destroy();
    const target = URL.canParse(location, url.href) ? new URL(location, url.href).href : undefined;
    if (target === undefined) {
      return failure('bad_response', `the server redirects to "${location}", which is no URL`);
    }
    return ok({ kind: 'redirect', status, statusText, redirect: target });
  }
  const raw = await readBody(response, maxBytes);
  if (!raw.ok) return failure(raw.error.reason, raw.error.message);
  const encoding = response.headers['content-encoding'];
  const body = await orAbort(decodeBody(raw.value, encoding, maxBytes), request.signal);
  if (!body.ok) return failure(body.error.reason, body.error.message);
  const headers = flatHeaders(response.headers);
  return ok({ kind: 'response', status, statusText, headers, body: body.value });
}

const REDIRECTS = new Set([301, 302, 303, 307, 308]);

/** Headers that belong to the connection, not to the caller. */
const OURS = new Set([
  'host',
  'connection',
  'content-length',
  'transfer-encoding',
  'upgrade',
  'te',
]);

function cleanHeaders(headers: Readonly<Record<string, string>> = {}): Record<string, string> {
  const clean: Record<string, string> = { 'accept-encoding': 'gzip, deflate, br' };
  for (const [name, value] of Object.entries(headers)) {
    const lower = name.toLowerCase();
    if (!/^[\w!#$%&'*+.^`|~-]+$/.test(name) || OURS.has(lower)) continue;
    // CR, LF and NUL would end the header and begin another; the rest Node cannot send.
    clean[lower] = value.replace(/[^\t\x20-\x7e\x80-\xff]/g, '');
  }
  return clean;
}

function flatHeaders(headers: import('node:http').IncomingHttpHeaders): Record<string, string> {
  const flat: Record<string, string> = {};
  for (const [name, value] of Object.entries(headers)) {
    if (value !== undefined) flat[name] = Array.isArray(value) ? value.join(', ') : value;
  }
  return flat;
}

function bareHost(url: URL): string {
  return url.hostname.replace(/^\[|\]$/g, '');
}

function failure(
  reason: FetchFailure['reason'],
  message: string,
): { readonly ok: false; readonly error: FetchFailure } {
  return err({ reason, message });
}
