import { Agent, type IncomingMessage } from 'node:http';
import { ReadableStream } from 'node:stream/web';
import { HttpError, toHttpError } from './http-error.js';
import { type ProxyEnvironment, proxyFor } from './http-proxy.js';
import { parseTarget, sendRequest } from './http-request.js';

export interface FetchOptions {
  /** Holds HTTP_PROXY and its kin. */
  readonly environment: ProxyEnvironment;
  /** Until the connection is open. Default 30 s. */
  readonly connectTimeoutMs?: number;
  /** Bytes of a body that is no event stream. Default 64 MiB. */
  readonly maxBodyBytes?: number;
  /** Bytes of one event of an event stream, with all its lines. Default 16 MiB. */
  readonly maxEventBytes?: number;
}

/** The part of `fetch` that clients of a protocol need. Rejects with `HttpError`. */
export type Fetch = (url: string | URL, init?: RequestInit) => Promise<Response>;

const MAX_BODY_BYTES = 64 * 1024 * 1024;
const MAX_EVENT_BYTES = 16 * 1024 * 1024;
/** Shorter than servers keep idle connections, so that none is written to while it is being closed. */
const IDLE_SOCKET_MS = 4000;

const plainAgent = new Agent({ keepAlive: true, noDelay: true, timeout: IDLE_SOCKET_MS });

/**
 * A `fetch` that honours the proxy variables, bounds what it takes in, follows no redirect and sends nothing
 * twice: a request that broke off may have been carried out, so the caller decides.
 */
export function createFetch(options: FetchOptions): Fetch {
  return async (input, init = {}) => {
    const target = parseTarget(String(input));
    const body = bytesOf(init.body);
    const { response } = await sendRequest({
      target,
      proxy: proxyFor(target, options.environment),
      method: init.method ?? 'GET',
      headers: {
        'accept-encoding': 'identity',
        ...Object.fromEntries(new Headers(init.headers)),
      },
      body,
      signal: init.signal,
      connectTimeoutMs: options.connectTimeoutMs,
      agent: plainAgent,
    });
    return toResponse(response, target, options);
  };
}

function bytesOf(body: RequestInit['body']): Buffer | undefined {
  if (body === undefined || body === null) return undefined;
  if (typeof body === 'string' || body instanceof URLSearchParams) return Buffer.from(String(body));
  if (body instanceof Uint8Array) return Buffer.from(body);
  throw new HttpError('other', 'a body of this kind is not sent');
}

/** Statuses whose answer must not have a body. */
const BODILESS = new Set([101, 204, 205, 304]);

function toResponse(incoming: IncomingMessage, target: URL, options: FetchOptions): Response {
  const status = incoming.statusCode ?? 0;
  const headers = new Headers();
  for (let at = 0; at + 1 < incoming.rawHeaders.length; at += 2) {
    headers.append(incoming.rawHeaders[at] ?? '', incoming.rawHeaders[at + 1] ?? '');
  }
  if (status < 200 || status > 599) {
    incoming.destroy();
    throw new HttpError('protocol', `${target.host} answered with status ${status}`);
  }
  if (BODILESS.has(status)) {
    incoming.resume();
    return new Response(null, { status, headers });
  }
  const isEvents = /^text\/event-stream\b/i.test(headers.get('content-type') ?? '');
  const limit = isEvents
    ? eventLimit(options.maxEventBytes ?? MAX_EVENT_BYTES)
    : totalLimit(options.maxBodyBytes ?? MAX_BODY_BYTES);
  const statusText = (incoming.statusMessage ?? '').replace(/[^\x20-\x7e]/g, '');
  const chunks = bodyOf(incoming, target, limit);
  const body = ReadableStream.from({
    [Symbol.asyncIterator]: () => ({
      next: () => chunks.next(),
      // A generator that was never read would not end the answer itself.
      async return() {
        incoming.destroy();
        return { done: true, value: undefined };
      },
    }),
  });
  // The types of Node's streams and of the web's do not know each other.
  return new Response(body as unknown as ConstructorParameters<typeof Response>[0], {
    status,
    statusText,
    headers,
  });
}

/** False once more has come than is taken. */
type Limit = (chunk: Buffer) => boolean;

function totalLimit(max: number): Limit {
  let taken = 0;
  return (chunk) => {
    taken += chunk.length;
    return taken <= max;
  };
}

/** Bounds every event, which its reader keeps until the blank line that ends it. Comment lines are not kept. */
function eventLimit(max: number): Limit {
  let kept = 0;
  let line = '';
  return (chunk) => {
    for (const [index, part] of chunk.toString('latin1').split('\n').entries()) {
      if (index > 0) {
        if (line === '' || line === '\r') kept = 0;
        else if (!line.startsWith(':')) kept += line.length + 1;
        line = '';
      }
      line += part;
      // fail-closed: an event without end is not read to its end.
      if (kept + line.length > max) return false;
    }
    return true;
  };
}

async function* bodyOf(
  incoming: IncomingMessage,
  target: URL,
  limit: Limit,
): AsyncGenerator<Uint8Array> {
  try {
    for await (const chunk of incoming as AsyncIterable<Buffer>) {
      if (!limit(chunk)) {
        throw new HttpError('protocol', `${target.host} sent more than is taken in`);
      }
      yield chunk;
    }
  } catch (thrown) {
    throw toHttpError(thrown, target);
  }
}
