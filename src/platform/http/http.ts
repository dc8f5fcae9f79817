import { HttpError, toHttpError } from './http-error.js';
import { type ProxyEnvironment, proxyFor } from './http-proxy.js';
import { type Exchange, flatHeaders, parseTarget, sendRequest, silence } from './http-request.js';

export interface HttpRequest {
  readonly url: string;
  /** Default: POST with a body, GET without one. */
  readonly method?: string | undefined;
  readonly headers?: Readonly<Record<string, string>> | undefined;
  readonly body?: string | Uint8Array | undefined;
  readonly signal?: AbortSignal | undefined;
  /** Until the connection is open, TLS included. */
  readonly connectTimeoutMs?: number | undefined;
  /** Longest silence: before the headers and between two chunks. */
  readonly idleTimeoutMs?: number | undefined;
}

export interface HttpResponse {
  readonly status: number;
  /** Lower-case names; repeated headers joined with ", ". */
  readonly headers: Readonly<Record<string, string>>;
  /** UTF-8 text; a character is never split. Iterating throws `HttpError` when the body breaks off. */
  readonly chunks: AsyncIterable<string>;
  /**
   * For a reader that has seen all it wants. An end of the body within `graceMs` frees the connection
   * for the next request; otherwise it is closed.
   */
  finish(graceMs: number): void;
}

export type HttpStream = (request: HttpRequest) => Promise<HttpResponse>;

/** How many connections in a row may turn out to be closed by the server. */
const MAX_STALE_SOCKETS = 4;

/**
 * Sends one request and resolves with its headers. Rejects with `HttpError`, nothing else. The variables name proxies.
 * Connections are kept open and shared by the whole process; idle ones do not keep it alive.
 * Global `fetch` is avoided on purpose: loading it doubles the start-up time of Node.
 * A server may close a kept-alive connection at the moment a request is written to it. It has not seen such a
 * request, so the client sends it again on another connection.
 */
export async function httpStream(
  request: HttpRequest,
  environment: ProxyEnvironment = process.env,
): Promise<HttpResponse> {
  const target = parseTarget(request.url);
  const { body, headers = {}, idleTimeoutMs = 0 } = request;
  for (let attempt = 1; ; attempt++) {
    try {
      const exchange = await sendRequest({
        target,
        proxy: proxyFor(target, environment),
        method: request.method ?? (body === undefined ? 'GET' : 'POST'),
        headers,
        body,
        signal: request.signal,
        connectTimeoutMs: request.connectTimeoutMs,
        headTimeoutMs: idleTimeoutMs,
      });
      return toResponse(exchange, target, idleTimeoutMs);
    } catch (thrown) {
      const isStale = thrown instanceof HttpError && thrown.staleSocket;
      if (!isStale || attempt >= MAX_STALE_SOCKETS) throw thrown;
    }
  }
}

function toResponse(
  { response, fail }: Exchange,
  target: URL,
  idleTimeoutMs: number,
): HttpResponse {
  let isFinished = false;
  async function* read(): AsyncGenerator<string> {
    // Runs only while the reader waits: a slow reader is not a silent server.
    let idle: NodeJS.Timeout | undefined;
    const waitForMore = (): void => {
      if (idleTimeoutMs === 0) return;
      idle = setTimeout(() => fail(silence(target, idleTimeoutMs)), idleTimeoutMs);
    };
    try {
      waitForMore();
      const texts = response.setEncoding('utf8').iterator({ destroyOnReturn: false });
      for await (const text of texts) {
        clearTimeout(idle);
        if (isFinished) return;
        yield text;
        waitForMore();
      }
    } catch (thrown) {
      if (!isFinished) throw toHttpError(thrown, target);
    } finally {
      clearTimeout(idle);
      if (!isFinished) response.destroy();
      // A connection is free for the next request only after the end of the body.
      response.resume();
      if (!response.closed) await new Promise((resolve) => response.once('close', resolve));
    }
  }
  return {
    status: response.statusCode ?? 0,
    headers: flatHeaders(response.headers),
    chunks: read(),
    finish(graceMs) {
      isFinished = true;
      const timer = setTimeout(() => response.destroy(), graceMs);
      response.once('close', () => clearTimeout(timer));
    },
  };
}
