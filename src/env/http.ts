import {
  Agent,
  type ClientRequest,
  type IncomingHttpHeaders,
  type RequestOptions,
  request as requestOf,
} from 'node:http';
import type https from 'node:https';
import { messageOf, systemCodeOf } from '../errors.js';
import { ChunkQueue } from './http-chunks.js';
import { HttpError, type HttpErrorKind } from './http-error.js';
import { type ProxyEnvironment, proxyFor } from './http-proxy.js';

export interface HttpRequest {
  readonly url: string;
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** A list is written piece by piece. The bytes must not change until the answer came. */
  readonly body?: string | Uint8Array | readonly Uint8Array[];
  readonly signal?: AbortSignal;
  /** Until the connection stands, TLS included. */
  readonly connectTimeoutMs?: number;
  /** Longest silence: before the headers and between two chunks. */
  readonly idleTimeoutMs?: number;
}

export interface HttpResponse {
  readonly status: number;
  /** Lower-case names; repeated headers joined with ", ". */
  readonly headers: Readonly<Record<string, string>>;
  /** UTF-8 text; a character is never split. Iterating throws `HttpError` when the body breaks off. */
  readonly chunks: AsyncIterable<string>;
  /**
   * For a reader that has seen all it wants. An end of the body within `graceMs` frees the connection
   * for the next request; otherwise it is dropped.
   */
  finish(graceMs: number): void;
}

export type HttpStream = (request: HttpRequest) => Promise<HttpResponse>;

export const DEFAULT_CONNECT_TIMEOUT_MS = 30_000;

/**
 * Sends one request and resolves with its headers. Rejects with `HttpError`, nothing else.
 * Connections are kept open and shared by the whole process; idle ones do not keep it alive.
 * Global `fetch` is avoided on purpose: loading it doubles the start-up time of Node.
 */
export const httpStream: HttpStream = (request) => sendWithFreshSocket(request, process.env);

/** The same with a proxy configuration other than the process's own. */
export function httpStreamWith(environment: ProxyEnvironment): HttpStream {
  return (request) => sendWithFreshSocket(request, environment);
}

const MAX_STALE_SOCKETS = 4;

/**
 * A kept-alive connection may have been closed by the server a moment before we write to it. Such a
 * request never reached anybody, so it is sent again at once.
 */
async function sendWithFreshSocket(
  request: HttpRequest,
  environment: ProxyEnvironment,
): Promise<HttpResponse> {
  for (let attempt = 1; ; attempt++) {
    try {
      const target = parseTarget(request.url);
      const secure = target.protocol === 'https:' ? await loadHttps() : undefined;
      return await send(request, { target, secure, environment });
    } catch (thrown) {
      const error =
        thrown instanceof HttpError ? thrown : new HttpError('other', messageOf(thrown));
      if (!error.staleSocket || attempt >= MAX_STALE_SOCKETS) throw error;
    }
  }
}

/** Turn after turn the same address is asked. */
let lastTarget: { readonly url: string; readonly target: URL } | undefined;

function parseTarget(url: string): URL {
  if (lastTarget?.url !== url) lastTarget = { url, target: checkedTarget(url) };
  return lastTarget.target;
}

function checkedTarget(url: string): URL {
  let target: URL;
  try {
    target = new URL(url);
  } catch {
    throw new HttpError('invalid_url', `"${url}" is not a URL`);
  }
  if (target.protocol !== 'http:' && target.protocol !== 'https:') {
    throw new HttpError('invalid_url', `"${url}" is neither http: nor https:`);
  }
  return target;
}

interface Route {
  readonly target: URL;
  readonly secure: SecureTransport | undefined;
  readonly environment: ProxyEnvironment;
}

interface SecureTransport {
  readonly https: typeof https;
  readonly agentFor: (proxy: URL | undefined) => https.Agent;
}

const plainAgent = new Agent({ keepAlive: true, noDelay: true, scheduling: 'lifo' });
let secureTransport: Promise<SecureTransport> | undefined;

function loadHttps(): Promise<SecureTransport> {
  secureTransport ??= import('./https-agent.js').then((module) => ({
    https: module.https,
    agentFor: module.agentFor,
  }));
  return secureTransport;
}

function send(request: HttpRequest, route: Route): Promise<HttpResponse> {
  const { target } = route;
  const { signal } = request;
  return new Promise((resolve, reject) => {
    if (signal?.aborted) {
      reject(new HttpError('aborted', 'the request was aborted'));
      return;
    }
    const outgoing = openRequest(request, route);
    const chunks = new ChunkQueue<string>((): void => {
      outgoing.destroy();
    });
    let failure: HttpError | undefined;
    let answered = false;

    const onAbort = (): void => fail(new HttpError('aborted', 'the request was aborted'));
    const settle = (): void => signal?.removeEventListener('abort', onAbort);
    const fail = (error: HttpError): void => {
      if (failure !== undefined) return;
      failure = error;
      settle();
      if (answered) chunks.fail(error);
      else reject(error);
      outgoing.destroy();
    };
    signal?.addEventListener('abort', onAbort, { once: true });

    outgoing.on('error', (error) => {
      const stale = outgoing.reusedSocket && !answered && isReset(error);
      fail(toHttpError(error, target, { stale }));
    });
    outgoing.on('timeout', () => {
      fail(new HttpError('timeout', silenceMessage(target, request.idleTimeoutMs)));
    });
    watchConnecting(outgoing, request, (ms) =>
      fail(new HttpError('timeout', `no connection to ${target.host} within ${ms} ms`)),
    );
    outgoing.on('response', (incoming) => {
      answered = true;
      incoming.setEncoding('utf8');
      incoming.on('data', (chunk: string) => {
        if (chunks.push(chunk)) incoming.pause();
      });
      chunks.onDrain = () => incoming.resume();
      incoming.on('end', () => {
        settle();
        chunks.end();
      });
      incoming.on('error', (error) => fail(toHttpError(error, target, { stale: false })));
      incoming.on('close', () => {
        if (!incoming.complete)
          fail(new HttpError('reset', `${target.host} closed the connection`));
      });
      resolve({
        status: incoming.statusCode ?? 0,
        headers: flatHeaders(incoming.headers),
        chunks,
        finish: (graceMs) => chunks.finish(graceMs),
      });
    });
    writeBody(outgoing, request.body);
  });
}

function openRequest(request: HttpRequest, route: Route): ClientRequest {
  const { target, secure, environment } = route;
  const proxy = proxyFor(target, environment);
  // A secure request goes through a proxy; a plain one is put to it.
  const asked = secure === undefined ? proxy : undefined;
  const headers = headersOf(request, target, asked?.headers);
  const options: RequestOptions = {
    agent: secure === undefined ? plainAgent : secure.agentFor(proxy?.url),
    method: request.method ?? (request.body === undefined ? 'GET' : 'POST'),
    // Node takes a list quicker. But of a list it does not see the host, by which it names the server in TLS.
    headers: secure === undefined ? listOf(headers) : Object.fromEntries(headers.values()),
    hostname: asked?.url.hostname ?? withoutBrackets(target.hostname),
    path: asked === undefined ? target.pathname + target.search : target.href,
    port: asked?.port ?? (target.port === '' ? undefined : Number(target.port)),
    timeout: request.idleTimeoutMs,
  };
  return secure === undefined ? requestOf(options) : secure.https.request(options);
}

/** By their names in lower case, so that none is sent twice: the request's own win, but not over its length. */
function headersOf(
  { headers: own, body, method }: HttpRequest,
  { host }: URL,
  ofProxy: HttpRequest['headers'],
): ReadonlyMap<string, Header> {
  const headers = new Map<string, Header>([['host', ['host', host]]]);
  for (const header of Object.entries(ofProxy ?? {})) headers.set(header[0].toLowerCase(), header);
  for (const header of Object.entries(own ?? {})) headers.set(header[0].toLowerCase(), header);
  if (body !== undefined) headers.set(LENGTH, [LENGTH, String(lengthOf(body))]);
  // Node would announce pieces of unknown length.
  else if (method !== undefined && HAVE_BODIES.includes(method)) headers.set(LENGTH, [LENGTH, '0']);
  return headers;
}

type Header = readonly [name: string, value: string];

const LENGTH = 'content-length';
const HAVE_BODIES: readonly string[] = ['POST', 'PUT', 'PATCH'];

/** Names and values in turn. */
function listOf(headers: ReadonlyMap<string, Header>): readonly string[] {
  const list: string[] = [];
  for (const [name, value] of headers.values()) list.push(name, value);
  return list;
}

function withoutBrackets(hostname: string): string {
  return hostname.startsWith('[') ? hostname.slice(1, -1) : hostname;
}

function lengthOf(body: NonNullable<HttpRequest['body']>): number {
  if (typeof body === 'string') return Buffer.byteLength(body);
  if (body instanceof Uint8Array) return body.byteLength;
  return body.reduce((sum, part) => sum + part.byteLength, 0);
}

/** Everything is queued before the socket is assigned, so Node sends head and body in one write. */
function writeBody(outgoing: ClientRequest, body: HttpRequest['body']): void {
  if (body === undefined) outgoing.end();
  else if (typeof body === 'string' || body instanceof Uint8Array) outgoing.end(body);
  else {
    outgoing.cork();
    for (const piece of withSmallJoined(body)) outgoing.write(piece);
    outgoing.end();
    outgoing.uncork();
  }
}

/** To hand over a piece costs more than to copy it as long as it is small. */
const SMALL_BYTES = 2 * 1024;

/** The same bytes in fewer pieces: small neighbours are one, large ones are never copied. */
function withSmallJoined(parts: readonly Uint8Array[]): readonly Uint8Array[] {
  const pieces: Uint8Array[] = [];
  let small: Uint8Array[] = [];
  const join = (): void => {
    if (small.length > 0) pieces.push(Buffer.concat(small));
    small = [];
  };
  for (const part of parts) {
    if (part.byteLength <= SMALL_BYTES) {
      small.push(part);
      continue;
    }
    join();
    pieces.push(part);
  }
  join();
  return pieces;
}

function watchConnecting(
  outgoing: ClientRequest,
  request: HttpRequest,
  onLate: (ms: number) => void,
): void {
  const limit = request.connectTimeoutMs ?? DEFAULT_CONNECT_TIMEOUT_MS;
  outgoing.on('socket', (socket) => {
    if (!socket.connecting) return;
    const timer = setTimeout(() => onLate(limit), limit);
    const stop = (): void => clearTimeout(timer);
    socket.once('connect', stop);
    socket.once('close', stop);
  });
}

/** Node joins what is repeated, but for cookies. */
function flatHeaders(headers: IncomingHttpHeaders): Readonly<Record<string, string>> {
  const { 'set-cookie': cookies } = headers;
  const flat = cookies === undefined ? headers : { ...headers, 'set-cookie': cookies.join(', ') };
  return flat as Readonly<Record<string, string>>;
}

function isReset(error: Error): boolean {
  const code = systemCodeOf(error);
  return code === 'ECONNRESET' || code === 'EPIPE' || code === 'ECONNABORTED';
}

function silenceMessage(target: URL, ms: number | undefined): string {
  return `${target.host} sent nothing for ${(ms ?? 0) / 1000} s`;
}

const KIND_BY_CODE: Readonly<Record<string, HttpErrorKind>> = {
  ECONNREFUSED: 'refused',
  ENOTFOUND: 'dns',
  EAI_AGAIN: 'dns',
  EAI_FAIL: 'dns',
  ECONNRESET: 'reset',
  ECONNABORTED: 'reset',
  EPIPE: 'reset',
  ETIMEDOUT: 'timeout',
  EHOSTUNREACH: 'unreachable',
  ENETUNREACH: 'unreachable',
  EPROTO: 'tls',
};

function toHttpError(error: Error, target: URL, options: { stale: boolean }): HttpError {
  if (error instanceof HttpError) return error;
  const code = systemCodeOf(error);
  const kind = code === undefined ? 'other' : (KIND_BY_CODE[code] ?? kindByPrefix(code));
  return new HttpError(kind, describe(kind, error, target), {
    ...(code === undefined ? {} : { code }),
    cause: error,
    staleSocket: options.stale,
  });
}

function kindByPrefix(code: string): HttpErrorKind {
  if (code.startsWith('HPE_')) return 'protocol';
  return /^(ERR_TLS|ERR_SSL|CERT_|UNABLE_TO_|DEPTH_ZERO|SELF_SIGNED|HOSTNAME_MISMATCH)/.test(code)
    ? 'tls'
    : 'other';
}

function describe(kind: HttpErrorKind, error: Error, target: URL): string {
  const { host } = target;
  switch (kind) {
    case 'refused':
      return `nothing listens at ${host} (connection refused)`;
    case 'dns':
      return `the name ${target.hostname} could not be resolved`;
    case 'reset':
      return `${host} closed the connection`;
    case 'tls':
      return `no trusted TLS connection to ${host}: ${error.message}`;
    case 'protocol':
      return `${host} does not speak HTTP here: ${error.message}`;
    default:
      // An aggregate of failed addresses has an empty message of its own.
      return `the request to ${host} failed: ${error.message || (systemCodeOf(error) ?? error.name)}`;
  }
}

export type { HttpErrorKind };
export { HttpError };
