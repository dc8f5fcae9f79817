import type { FetchLike } from '@modelcontextprotocol/client';
import { parseUrl } from '../../lib/parse-url.js';
import { classifyAddress, isInternalName, isIpAddress } from '../../platform/http/ip-address.js';
import type { PublicFetch } from '../../platform/http/public-fetch.js';

/** Larger than any metadata or token response. */
const MAX_BYTES = 1024 * 1024;
const TIMEOUT_MS = 30_000;
const TOO_LONG = 'the answer of the authorization server is too long';

/** An address that must not be called; the message says why. */
export class RefusedAddress extends Error {}

/**
 * Why an address named by a server may not be used for signing in. Credentials need https or loopback, and a
 * remote server must not direct requests to this machine or its internal network.
 */
export function addressRefusal(address: string | URL, serverUrl: string): string | undefined {
  if (parseUrl(String(address)) === undefined)
    return 'it names an address for signing in that is no URL';
  const url = new URL(String(address));
  const place = `${url.protocol}//${url.host}`;
  if (url.protocol !== 'https:' && url.protocol !== 'http:') {
    return `it names an address for signing in with the scheme "${url.protocol}"`;
  }
  if (url.username !== '' || url.password !== '') {
    return 'it names an address for signing in that holds credentials';
  }
  const reach = reachOf(url);
  const own = reachOf(new URL(serverUrl));
  if (reach === 'forbidden') return `${place} is no place to sign in`;
  // fail-closed: only a loopback server may name a loopback address.
  if (reach === 'loopback' && own !== 'loopback') {
    return `${place} is on this machine, and the server is not`;
  }
  // fail-closed: only a server on the internal network may name an internal address.
  if (reach === 'inner' && own === 'public') {
    return `${place} is on the inner network, and the server is not`;
  }
  if (url.protocol === 'http:' && reach !== 'loopback') return `${place} is not https`;
  return undefined;
}

function reachOf(url: URL): 'public' | 'inner' | 'loopback' | 'forbidden' {
  const host = url.hostname.replace(/^\[|\]$/g, '').replace(/\.+$/, '');
  if (/^(.+\.)?localhost$/i.test(host)) return 'loopback';
  if (!isIpAddress(host)) return isInternalName(host) ? 'inner' : 'public';
  const kind = classifyAddress(host);
  if (kind === 'public' || kind === 'loopback') return kind;
  return kind === 'private' || kind === 'shared' ? 'inner' : 'forbidden';
}

export interface AuthNetwork {
  /** For servers on this machine or the internal network, which may sign in there too. */
  readonly near: FetchLike;
  /** For all other servers: resolves names itself and connects to public addresses only. */
  readonly far: PublicFetch;
  readonly resolve: (hostname: string) => Promise<readonly string[]>;
}

/** The fetch for metadata, registration and tokens: checks every address and bounds time and size. */
export function guardedAuthFetch(network: AuthNetwork, serverUrl: string): FetchLike {
  let isNear: Promise<boolean> | undefined;
  return async (address, init = {}) => {
    const refusal = addressRefusal(address, serverUrl);
    if (refusal !== undefined) throw new RefusedAddress(refusal);
    isNear ??= isNearby(serverUrl, network);
    const body = init.body instanceof URLSearchParams ? init.body.toString() : init.body;
    const plain = { ...init, body };
    const response = (await isNear)
      ? await nearAnswer(network.near, address, plain)
      : await farAnswer(network.far, address, plain);
    const leads = response.headers.get('location');
    // fail-closed: an answer from another origin is not accepted.
    if (leads !== null && isElsewhere(leads, address)) {
      throw new RefusedAddress(`${new URL(address).host} redirects to another place`);
    }
    return response;
  };
}

/** A public-looking name may resolve to an internal address. */
async function isNearby(serverUrl: string, { resolve }: AuthNetwork): Promise<boolean> {
  const url = new URL(serverUrl);
  if (reachOf(url) !== 'public') return true;
  const host = url.hostname.replace(/^\[|\]$/g, '');
  if (isIpAddress(host)) return false;
  return (await resolve(host)).some((one) => classifyAddress(one) !== 'public');
}

async function nearAnswer(
  fetch: FetchLike,
  address: string | URL,
  init: RequestInit,
): Promise<Response> {
  const deadline = AbortSignal.timeout(TIMEOUT_MS);
  const signal = init.signal ? AbortSignal.any([init.signal, deadline]) : deadline;
  // Redirects are returned, not followed: the library repeats the request here, and only within the origin.
  const response = await fetch(address, { ...init, signal, redirect: 'manual' });
  const content = await boundedBody(response);
  const headers = new Headers(response.headers);
  // The body is already decoded.
  headers.delete('content-encoding');
  headers.delete('content-length');
  return answerOf(content, { status: response.status, headers });
}

async function farAnswer(
  fetch: PublicFetch,
  address: string | URL,
  init: RequestInit,
): Promise<Response> {
  const { host } = new URL(address);
  const result = await fetch({
    url: String(address),
    method: init.method ?? 'GET',
    headers: Object.fromEntries(new Headers(init.headers)),
    ...(typeof init.body === 'string' ? { body: init.body } : {}),
    ...(init.signal ? { signal: init.signal } : {}),
    timeoutMs: TIMEOUT_MS,
    maxBytes: MAX_BYTES,
  });
  if (result.ok) {
    const { value } = result;
    if (value.kind === 'response') return answerOf(value.body, value);
    return answerOf(undefined, { status: value.status, headers: { location: value.redirect } });
  }
  const { reason } = result.error;
  if (reason === 'forbidden') throw new RefusedAddress(`${host} is no public address`);
  if (reason === 'too_large') throw new RefusedAddress(TOO_LONG);
  // Matches the error that the built-in fetch throws without an answer.
  throw new TypeError(`no answer from ${host}`);
}

function answerOf(
  body: Uint8Array | undefined,
  init: { readonly status: number; readonly headers: ConstructorParameters<typeof Headers>[0] },
): Response {
  const { status, headers } = init;
  const isEmpty = body === undefined || status === 204 || status === 205 || status === 304;
  return new Response(isEmpty ? null : Uint8Array.from(body), { status, headers });
}

function isElsewhere(location: string, base: string | URL): boolean {
  const from = new URL(base);
  return parseUrl(location, from.href)?.origin !== from.origin;
}

async function boundedBody(response: Response): Promise<Uint8Array> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of response.body ?? []) {
    chunks.push(chunk);
    size += chunk.byteLength;
    if (size > MAX_BYTES) throw new RefusedAddress(TOO_LONG);
  }
  return Buffer.concat(chunks);
}
