import http from 'node:http';
import { systemCodeOf } from '../errors.js';
import { HttpError, type HttpErrorKind } from './http-error.js';
import { type ProxyEnvironment, proxyFor } from './http-proxy.js';

export interface WebFetchOptions {
  /** Where HTTP_PROXY and its kin are read. */
  readonly environment: ProxyEnvironment;
  /** Until the connection stands. Default 30 s. */
  readonly connectTimeoutMs?: number;
  /** Bytes of a body that is no event stream. Default 64 MiB. */
  readonly maxBodyBytes?: number;
  /** Bytes of one event of an event stream, with all its lines. Default 16 MiB. */
  readonly maxEventBytes?: number;
}

/** The part of `fetch` that clients of a protocol need. Rejects with `HttpError`. */
export type WebFetch = (url: string | URL, init?: RequestInit) => Promise<Response>;

const CONNECT_TIMEOUT_MS = 30_000;
const MAX_BODY_BYTES = 64 * 1024 * 1024;
const MAX_EVENT_BYTES = 16 * 1024 * 1024;
/** Shorter than servers keep idle connections, so that none is written to while it is being closed. */
const IDLE_SOCKET_MS = 4000;

const plainAgent = new http.Agent({ keepAlive: true, noDelay: true, timeout: IDLE_SOCKET_MS });

/**
 * A `fetch` that honours the proxy variables, bounds what it takes in, and does what the global one
 * cannot be told to leave: it follows no redirect, and it sends nothing twice. A request that broke
 * off may have been carried out; whoever sent it must decide.
 */
export function createWebFetch(options: WebFetchOptions): WebFetch {
  return async (input, init = {}) => {
    const target = targetOf(input);
    const outgoing = await openRequest(target, init, options.environment);
    const incoming = await exchange(outgoing, target, init, options);
    return toResponse(incoming, target, options);
  };
}

function targetOf(input: string | URL): URL {
  if (!URL.canParse(String(input))) throw new HttpError('invalid_url', 'that is not a URL');
  const target = new URL(input);
  if (target.protocol === 'http:' || target.protocol === 'https:') return target;
  throw new HttpError('invalid_url', `only http and https are spoken, not "${target.protocol}"`);
}

async function openRequest(
  target: URL,
  init: RequestInit,
  environment: ProxyEnvironment,
): Promise<http.ClientRequest> {
  const proxy = proxyFor(target, environment);
  const headers: Record<string, string> = { 'accept-encoding': 'identity' };
  new Headers(init.headers).forEach((value, name) => {
    headers[name] = value;
  });
  const options: http.RequestOptions = {
    method: init.method ?? 'GET',
    headers,
    hostname: target.hostname.replace(/^\[|\]$/g, ''),
    path: target.pathname + target.search,
    ...(target.port === '' ? {} : { port: Number(target.port) }),
  };
  if (target.protocol === 'https:') {
    const { https, agentFor } = await import('./https-agent.js');
    return https.request({ ...options, agent: agentFor(proxy?.url) });
  }
  if (proxy === undefined) return http.request({ ...options, agent: plainAgent });
  return http.request({
    ...options,
    agent: plainAgent,
    hostname: proxy.url.hostname,
    port: proxy.port,
    path: `${target.origin}${target.pathname}${target.search}`,
    headers: { ...headers, host: target.host, ...proxy.headers },
  });
}

function exchange(
  outgoing: http.ClientRequest,
  target: URL,
  init: RequestInit,
  options: WebFetchOptions,
): Promise<http.IncomingMessage> {
  return new Promise((resolve, reject) => {
    const fail = (error: HttpError): void => {
      reject(error);
      outgoing.destroy();
    };
    // First of all: a request that is destroyed without a listener for its error ends the program.
    outgoing.on('error', (error) => fail(toHttpError(error, target)));
    const { signal } = init;
    const onAbort = (): void => fail(new HttpError('aborted', 'the request was called off'));
    if (signal?.aborted) {
      onAbort();
      return;
    }
    signal?.addEventListener('abort', onAbort, { once: true });
    outgoing.once('close', () => signal?.removeEventListener('abort', onAbort));
    outgoing.on('response', resolve);
    watchConnecting(outgoing, options.connectTimeoutMs ?? CONNECT_TIMEOUT_MS, () =>
      fail(new HttpError('timeout', `no connection to ${target.host} in time`)),
    );
    const body = bytesOf(init.body);
    if (body !== undefined) outgoing.setHeader('content-length', body.byteLength);
    outgoing.end(body);
  });
}

function watchConnecting(outgoing: http.ClientRequest, ms: number, onLate: () => void): void {
  outgoing.on('socket', (socket) => {
    if (!socket.connecting) return;
    const timer = setTimeout(onLate, ms);
    const stop = (): void => clearTimeout(timer);
    socket.once('connect', stop);
    socket.once('close', stop);
  });
}

function bytesOf(body: RequestInit['body']): Buffer | undefined {
  if (body === undefined || body === null) return undefined;
  if (typeof body === 'string' || body instanceof URLSearchParams) return Buffer.from(String(body));
  if (body instanceof Uint8Array) return Buffer.from(body);
  throw new HttpError('other', 'a body of this kind is not sent');
}

/** Statuses whose answer must not have a body. */
const BODILESS = new Set([101, 204, 205, 304]);

function toResponse(
  incoming: http.IncomingMessage,
  target: URL,
  options: WebFetchOptions,
): Response {
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

function bodyOf(
  incoming: http.IncomingMessage,
  target: URL,
  limit: Limit,
): ReadableStream<Uint8Array> {
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

const KIND_BY_CODE: Readonly<Record<string, HttpErrorKind>> = {
  ECONNREFUSED: 'refused',
  ENOTFOUND: 'dns',
  EAI_AGAIN: 'dns',
  ECONNRESET: 'reset',
  ECONNABORTED: 'reset',
  EPIPE: 'reset',
  ETIMEDOUT: 'timeout',
  EHOSTUNREACH: 'unreachable',
  ENETUNREACH: 'unreachable',
};

function toHttpError(error: Error, target: URL): HttpError {
  if (error instanceof HttpError) return error;
  const code = systemCodeOf(error) ?? '';
  const isTls = /^(ERR_TLS|ERR_SSL|CERT_|UNABLE_TO_|DEPTH_ZERO|SELF_SIGNED|EPROTO)/.test(code);
  const kind = KIND_BY_CODE[code] ?? (isTls ? 'tls' : 'other');
  return new HttpError(kind, `the request to ${target.host} failed (${code || error.name})`, {
    ...(code === '' ? {} : { code }),
    cause: error,
  });
}
