import type { IncomingMessage, RequestOptions } from 'node:http';
import { promisify } from 'node:util';
import { messageOf, systemCodeOf } from '../../errors.js';
import { orAbort } from '../../lib/abort.js';
import { parseUrl } from '../../lib/parse-url.js';
import { err, ok, type Result } from '../../lib/result.js';
import { toHttpError } from './http-error.js';
import { proxyFor, withoutBrackets } from './http-proxy.js';
import { flatHeaders, sendRequest } from './http-request.js';
import {
  blockedAddressReason,
  isInternalName,
  isIpAddress,
  lookupAddresses,
} from './ip-address.js';

const MAX_FETCH_BYTES = 10 * 1024 * 1024;
const FETCH_TIMEOUT_MS = 30_000;

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
export type PublicFetch = (request: FetchRequest) => Promise<FetchResult>;

/** What tests and unusual networks replace. */
export interface PublicFetchDeps {
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
export async function fetchPublic(
  request: FetchRequest,
  deps: PublicFetchDeps = {},
): Promise<FetchResult> {
  // Timers take whole milliseconds, and no more than these.
  const timeoutMs = Math.min(Math.ceil(request.timeoutMs ?? FETCH_TIMEOUT_MS), 2 ** 31 - 1);
  const deadline = AbortSignal.timeout(timeoutMs);
  const signal =
    request.signal === undefined ? deadline : AbortSignal.any([request.signal, deadline]);
  try {
    return await fetchOnce({ ...request, signal }, deps);
  } catch (thrown) {
    if (request.signal?.aborted) return failure('aborted', 'the request was cancelled');
    if (deadline.aborted) {
      return failure('timeout', `no complete answer within ${timeoutMs / 1000} s`);
    }
    return failure('connection', `${messageOf(thrown) || systemCodeOf(thrown) || 'failed'}`);
  }
}

type Bounded = FetchRequest & { readonly signal: AbortSignal };

async function fetchOnce(request: Bounded, deps: PublicFetchDeps): Promise<FetchResult> {
  const checked = checkUrl(request);
  if (!checked.ok) return checked;
  const url = checked.value;
  const proxy = proxyFor(url, deps.environment ?? process.env);
  let lookup: Lookup | undefined;
  if (proxy === undefined) {
    const addresses = await judgedAddresses(url, request, deps);
    if (!addresses.ok) return addresses;
    lookup = pinnedTo(addresses.value);
  } else {
    const refused = refuseUnresolved(url);
    if (refused !== undefined) return failure('forbidden', refused);
  }
  const { response } = await sendRequest({
    target: url,
    proxy,
    method: request.method ?? 'GET',
    headers: cleanHeaders(request.headers),
    body: request.body,
    signal: request.signal,
    // A connection of its own: one kept from an earlier request was judged for that one.
    agent: false,
    lookup,
    tls: { rejectUnauthorized: true, ca: deps.ca },
  });
  return readResponse(response, url, request);
}

function checkUrl(request: FetchRequest): Result<URL, FetchFailure> {
  const url = parseUrl(request.url);
  if (url === undefined) return failure('invalid_url', `"${request.url}" is not a valid URL`);
  if (url.protocol !== 'http:' && url.protocol !== 'https:') {
    return failure('invalid_url', `only http and https are fetched, not "${url.protocol}"`);
  }
  const host = withoutBrackets(url.hostname);
  const loopback = request.allow?.loopback === true;
  if (isIpAddress(host)) {
    const refused = blockedAddressReason(host, host, { loopback });
    if (refused !== undefined) return failure('forbidden', refused);
  } else if (isInternalName(host) && !(loopback && /^(.+\.)?localhost\.?$/i.test(host))) {
    return failure('forbidden', `"${host}" is a name for an inner network`);
  }
  if (url.username !== '' || url.password !== '') {
    return failure('invalid_url', 'credentials in a URL are not sent; remove them');
  }
  return ok(url);
}

/** Judges a name that the proxy resolves: without a dot it can only mean something inner. */
function refuseUnresolved(url: URL): string | undefined {
  const host = withoutBrackets(url.hostname).replace(/\.$/, '');
  if (isIpAddress(host) || host.includes('.') || host === 'localhost') return undefined;
  return `"${host}" has no domain and would be resolved inside the proxy's network`;
}

async function judgedAddresses(
  url: URL,
  request: Bounded,
  deps: PublicFetchDeps,
): Promise<Result<readonly string[], FetchFailure>> {
  const host = withoutBrackets(url.hostname);
  if (isIpAddress(host)) return ok([host]);
  let addresses: readonly string[];
  try {
    addresses = await orAbort((deps.resolve ?? lookupAddresses)(host), request.signal);
  } catch (thrown) {
    if (request.signal.aborted) throw thrown;
    return failure('dns', `the name "${host}" could not be resolved (${messageOf(thrown)})`);
  }
  if (addresses.length === 0) return failure('dns', `the name "${host}" has no address`);
  for (const address of addresses) {
    // fail-closed: one inner address among many refuses the name; which one is used is not ours to bet on.
    const refused = blockedAddressReason(host, address, {
      loopback: request.allow?.loopback === true,
    });
    if (refused !== undefined) return failure('forbidden', refused);
  }
  return ok(addresses);
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

async function readResponse(
  response: IncomingMessage,
  url: URL,
  request: Bounded,
): Promise<FetchResult> {
  const maxBytes = request.maxBytes ?? MAX_FETCH_BYTES;
  const status = response.statusCode ?? 0;
  const statusText = response.statusMessage ?? '';
  const { location } = response.headers;
  if (REDIRECTS.has(status) && location !== undefined) {
    response.destroy();
    const redirect = parseUrl(location, url.href)?.href;
    return redirect === undefined
      ? failure('bad_response', `the server redirects to "${location}", which is not a URL`)
      : ok({ kind: 'redirect', status, statusText, redirect });
  }
  const raw = await readBody(response, url, maxBytes);
  if (!raw.ok) return raw;
  const encoding = response.headers['content-encoding'];
  const body = await orAbort(decodeBody(raw.value, encoding, maxBytes), request.signal);
  if (!body.ok) return body;
  const headers = flatHeaders(response.headers);
  return ok({ kind: 'response', status, statusText, headers, body: body.value });
}

const REDIRECTS = new Set([301, 302, 303, 307, 308]);

/** Headers that belong to the connection, not to the caller. */
const OURS = new Set('host connection content-length transfer-encoding upgrade te'.split(' '));

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

function failure(
  reason: FetchFailure['reason'],
  message: string,
): { readonly ok: false; readonly error: FetchFailure } {
  return err({ reason, message });
}

/** Reads at most `maxBytes`. Rejects when the connection is cut before the announced end. */
async function readBody(
  response: IncomingMessage,
  url: URL,
  maxBytes: number,
): Promise<Result<Uint8Array, FetchFailure>> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  if (Number(response.headers['content-length']) > maxBytes) {
    response.destroy();
    return tooLarge(maxBytes, 'is');
  }
  try {
    for await (const chunk of response as AsyncIterable<Uint8Array>) {
      size += chunk.byteLength;
      if (size > maxBytes) return tooLarge(maxBytes, 'is');
      chunks.push(chunk);
    }
  } catch (thrown) {
    const error = toHttpError(thrown, url);
    if (error.kind !== 'reset') throw error;
    throw new Error('the connection was cut before the answer was complete');
  }
  return ok(Buffer.concat(chunks));
}

/** Undoes the content coding, expanding to at most `maxBytes`. */
async function decodeBody(
  raw: Uint8Array,
  encoding: string | undefined,
  maxBytes: number,
): Promise<Result<Uint8Array, FetchFailure>> {
  const coding = (encoding ?? 'identity').trim().toLowerCase();
  if (coding === 'identity' || coding === '' || raw.byteLength === 0) return ok(raw);
  const zlib = await import('node:zlib');
  // Some servers send the bare deflate stream, without the two bytes of the zlib header.
  const inflate = ((raw[0] ?? 0) & 0x0f) === 8 ? zlib.inflate : zlib.inflateRaw;
  const expand = new Map<string, typeof zlib.gunzip>([
    ['gzip', zlib.gunzip],
    ['x-gzip', zlib.gunzip],
    ['br', zlib.brotliDecompress],
    ['deflate', inflate],
  ]).get(coding);
  if (expand === undefined) return failure('bad_response', `unknown content encoding "${coding}"`);
  try {
    return ok(await promisify(expand)(raw, { maxOutputLength: maxBytes }));
  } catch (thrown) {
    if (systemCodeOf(thrown) === 'ERR_BUFFER_TOO_LARGE') return tooLarge(maxBytes, 'expands to');
    const message = `the ${coding} body is damaged or cut off (${messageOf(thrown)})`;
    return failure('bad_response', message);
  }
}

function tooLarge(maxBytes: number, verb: string): ReturnType<typeof failure> {
  const limit =
    maxBytes >= 1024 * 1024 ? `${Math.floor(maxBytes / 1024 / 1024)} MB` : `${maxBytes} bytes`;
  return failure('too_large', `the answer ${verb} more than ${limit}`);
}
