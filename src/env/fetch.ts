import { Agent, type IncomingMessage } from 'node:http';
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
  return new Response(bodyOf(incoming, target, limit), { status, statusText, headers });
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

/** An event ends with an empty line; until then its reader keeps all of it. Comments are not kept. */
function eventLimit(max: number): Limit {
  /** Of the whole lines of the event, and of the line that is not whole yet. */
  let kept = 0;
  let line = 0;
  let isComment = false;
  let isBlank = true;
  const take = (chunk: Buffer, from: number, to: number): void => {
    if (line === 0 && to > from) isComment = chunk[from] === COLON;
    // A line of nothing but a carriage return is empty too.
    isBlank = isBlank && (to === from || (line === 0 && to - from === 1 && chunk[from] === CR));
    line += to - from;
  };
  return (chunk) => {
    for (let from = 0; from < chunk.length; ) {
      const end = chunk.indexOf(LF, from);
      take(chunk, from, end === -1 ? chunk.length : end);
      // fail-closed: what has no end is not taken in to its end.
      if (kept + line > max) return false;
      if (end === -1) break;
      if (isBlank) kept = 0;
      else if (!isComment) kept += line + 1;
      line = 0;
      isComment = false;
      isBlank = true;
      from = end + 1;
    }
    return true;
  };
}

const LF = 10;
const CR = 13;
const COLON = 58;

function bodyOf(incoming: IncomingMessage, target: URL, limit: Limit): ReadableStream<Uint8Array> {
  let isOver = false;
  return new ReadableStream<Uint8Array>({
    start(controller) {
      const fail = (error: HttpError): void => {
        if (isOver) return;
        isOver = true;
        controller.error(error);
        incoming.destroy();
      };
      incoming.on('data', (chunk: Buffer) => {
        if (isOver) return;
        if (!limit(chunk)) {
          fail(new HttpError('protocol', `${target.host} sent more than is taken in`));
          return;
        }
        controller.enqueue(chunk);
        if ((controller.desiredSize ?? 1) <= 0) incoming.pause();
      });
      incoming.on('end', () => {
        if (!isOver) controller.close();
        isOver = true;
      });
      incoming.on('error', (error) => fail(toHttpError(error, target)));
      incoming.on('close', () => {
        fail(new HttpError('reset', `${target.host} closed the connection`));
      });
    },
    pull() {
      incoming.resume();
    },
    cancel() {
      isOver = true;
      incoming.destroy();
    },
  });
}
