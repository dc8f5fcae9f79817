import { messageOf } from '../errors.js';
import type { HttpConnection } from './http-connection.js';
import { HttpError, type HttpErrorKind } from './http-error.js';
import {
  HttpExchange,
  type HttpRequest,
  type HttpResponse,
  type Waiting,
} from './http-exchange.js';
import { NONE, requestHead } from './http-head.js';
import { idleConnection, openConnection } from './http-pool.js';
import type { ProxyEnvironment } from './http-proxy.js';
import { routeOf } from './http-route.js';

export type HttpStream = (request: HttpRequest) => Promise<HttpResponse>;

export const DEFAULT_CONNECT_TIMEOUT_MS = 30_000;

/**
 * Sends one request and resolves with its headers. Rejects with `HttpError`, nothing else.
 * Connections are kept open and shared by the whole process; idle ones do not keep it alive.
 * Global `fetch` is avoided on purpose: loading it doubles the start-up time of Node.
 */
export const httpStream: HttpStream = (request) => send(request, process.env);

/** The same with a proxy configuration other than the process's own. */
export function httpStreamWith(environment: ProxyEnvironment): HttpStream {
  return (request) => send(request, environment);
}

function send(request: HttpRequest, environment: ProxyEnvironment): Promise<HttpResponse> {
  return new Promise((resolve, reject) => {
    try {
      begin(request, environment, { resolve, reject });
    } catch (thrown) {
      reject(thrown instanceof HttpError ? thrown : new HttpError('other', messageOf(thrown)));
    }
  });
}

function begin(request: HttpRequest, environment: ProxyEnvironment, waiting: Waiting): void {
  const { url, headers = NONE, signal } = request;
  if (signal?.aborted) throw new HttpError('aborted', 'the request was aborted');
  const { target, host, place, path, proxyHeaders } = routeOf(url, headers, environment);
  const method = (request.method ?? (request.body === undefined ? 'GET' : 'POST')).toUpperCase();
  const bodyBytes = lengthOf(request.body);
  const line = { method, path, host, bodyBytes };
  const head = requestHead(line, headers, proxyHeaders);
  const outgoing = {
    target,
    place,
    head,
    body: piecesOf(request.body),
    bytes: head.length + (bodyBytes ?? 0),
    isBodiless: method === 'HEAD',
    connectTimeoutMs: request.connectTimeoutMs ?? DEFAULT_CONNECT_TIMEOUT_MS,
    idleTimeoutMs: request.idleTimeoutMs ?? 0,
    signal,
    dispatch,
  };
  dispatch(new HttpExchange(outgoing, waiting));
}

/** Puts a request on a connection that waits for one, or else on a new one. */
function dispatch(exchange: HttpExchange): void {
  const { place, connectTimeoutMs } = exchange.outgoing;
  const used = idleConnection(place);
  if (used !== undefined) {
    putOn(used, exchange);
    return;
  }
  exchange.giveUp = openConnection({
    place,
    timeoutMs: connectTimeoutMs,
    opened: (connection) => putOn(connection, exchange),
    failed: (error) => exchange.broke({ kind: 'error', error }, { isStale: false }),
    late: () => exchange.late(connectTimeoutMs),
  });
}

function putOn(connection: HttpConnection, exchange: HttpExchange): void {
  // Nobody waits for it any more: nothing is sent.
  if (exchange.isOver) {
    connection.destroy();
    return;
  }
  exchange.on(connection);
  connection.begin(exchange, exchange.outgoing);
}

function lengthOf(body: HttpRequest['body']): number | undefined {
  if (body === undefined) return undefined;
  if (typeof body === 'string') return Buffer.byteLength(body);
  if (body instanceof Uint8Array) return body.byteLength;
  let sum = 0;
  for (const part of body) sum += part.byteLength;
  return sum;
}

function piecesOf(body: HttpRequest['body']): readonly Uint8Array[] {
  if (body === undefined) return [];
  if (typeof body === 'string') return [Buffer.from(body)];
  return body instanceof Uint8Array ? [body] : body;
}

export type { HttpErrorKind, HttpRequest, HttpResponse };
export { HttpError };
