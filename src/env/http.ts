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
import { type Route, routeOf } from './http-route.js';

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
  if (request.signal?.aborted) throw new HttpError('aborted', 'the request was aborted');
  const route = routeOf(request.url, request.headers ?? NONE, environment);
  const { place, target } = route;
  const head = headOf(request, route);
  const body = piecesOf(request.body);
  const dispatch = (exchange: HttpExchange): void => {
    const opened = (connection: HttpConnection): void => {
      // Nobody waits for it any more: nothing is sent.
      if (exchange.isOver) {
        connection.destroy();
        return;
      }
      exchange.on(connection);
      connection.begin(exchange, head, body);
    };
    const used = idleConnection(place);
    if (used !== undefined) {
      opened(used);
      return;
    }
    const timeoutMs = request.connectTimeoutMs ?? DEFAULT_CONNECT_TIMEOUT_MS;
    exchange.giveUp = openConnection({
      place,
      timeoutMs,
      opened,
      failed: (error) => exchange.broke({ kind: 'error', error }, { isStale: false }),
      late: () => exchange.late(timeoutMs),
    });
  };
  dispatch(new HttpExchange(request, { target, waiting, dispatch }));
}

/** All that goes over the line before the body. */
function headOf({ method, headers = NONE, body }: HttpRequest, route: Route): string {
  const bodyBytes = lengthOf(body);
  const named = method ?? (body === undefined ? 'GET' : 'POST');
  const line = {
    method: named.toUpperCase(),
    path: route.path,
    host: route.target.host,
    bodyBytes,
  };
  return requestHead(line, headers, route.proxyHeaders);
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
