import type { FetchLike } from '@modelcontextprotocol/client';
import { classifyAddress, isInternalName, isIpAddress } from '../env/address.js';

/** No metadata and no token is longer. */
const MAX_BYTES = 1024 * 1024;
const TIMEOUT_MS = 30_000;

/** An address that is not called, and why. */
export class RefusedAddress extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'RefusedAddress';
  }
}

/**
 * Why an address that a server named is not used for signing in. Credentials travel by https or stay on
 * this machine, and a server out there does not get to point us at this machine or the inner network.
 */
export function addressRefusal(address: string | URL, serverUrl: string): string | undefined {
  if (!URL.canParse(String(address))) return 'it names an address for signing in that is no URL';
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
  // fail-closed: only a server on this machine may send us to this machine.
  if (reach === 'loopback' && own !== 'loopback') {
    return `${place} is on this machine, and the server is not`;
  }
  // fail-closed: only a server of the inner network may send us to the inner network.
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

/** For metadata, registration and tokens: each address is judged, each answer is bounded in time and size. */
export function guardedAuthFetch(fetch: FetchLike, serverUrl: string): FetchLike {
  return async (address, init = {}) => {
    const refusal = addressRefusal(address, serverUrl);
    if (refusal !== undefined) throw new RefusedAddress(refusal);
    const deadline = AbortSignal.timeout(TIMEOUT_MS);
    const signal = init.signal ? AbortSignal.any([init.signal, deadline]) : deadline;
    const body = init.body instanceof URLSearchParams ? init.body.toString() : init.body;
    // A redirect comes back as such; the library asks again, here, only within the same origin.
    const response = await fetch(address, { ...init, body, signal, redirect: 'manual' });
    const leads = response.headers.get('location');
    // fail-closed: what another place says is not what this one says.
    if (leads !== null && isElsewhere(leads, address)) {
      await response.body?.cancel();
      throw new RefusedAddress(`${new URL(address).host} redirects to another place`);
    }
    const content = await boundedBody(response);
    const { status, statusText, headers } = response;
    const empty = status === 204 || status === 205 || status === 304;
    const copy = new Headers(headers);
    // The body is decoded already.
    copy.delete('content-encoding');
    copy.delete('content-length');
    return new Response(empty ? null : content, { status, statusText, headers: copy });
  };
}

function isElsewhere(location: string, base: string | URL): boolean {
  const from = new URL(base);
  return !URL.canParse(location, from.href) || new URL(location, from).origin !== from.origin;
}

async function boundedBody(response: Response): Promise<Uint8Array<ArrayBuffer>> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of response.body ?? []) {
    chunks.push(chunk);
    size += chunk.byteLength;
    if (size > MAX_BYTES)
      throw new RefusedAddress('the answer of the authorization server is too long');
  }
  const all = new Uint8Array(size);
  let at = 0;
  for (const chunk of chunks) {
    all.set(chunk, at);
    at += chunk.byteLength;
  }
  return all;
}
