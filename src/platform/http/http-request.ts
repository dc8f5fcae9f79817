import {
  Agent,
  type ClientRequest,
  type IncomingHttpHeaders,
  type IncomingMessage,
  request as plainRequest,
  type RequestOptions,
} from 'node:http';
import { parseUrl } from '../../lib/parse-url.js';
import { HttpError, toHttpError } from './http-error.js';
import { type HttpProxy, portOf, withoutBrackets } from './http-proxy.js';

const DEFAULT_CONNECT_TIMEOUT_MS = 30_000;

export interface OutgoingRequest {
  readonly target: URL;
  readonly proxy: HttpProxy | undefined;
  readonly method: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string | Uint8Array | undefined;
  readonly signal?: AbortSignal | null | undefined;
  /** Until the connection is open, TLS included. */
  readonly connectTimeoutMs?: number | undefined;
  /** Until the head of the response has arrived; 0 or undefined: no limit. */
  readonly headTimeoutMs?: number | undefined;
  /** For plain and direct connections. `false`: a connection that no other request shares. */
  readonly agent?: Agent | false | undefined;
  /** Addresses that were checked before, instead of a second look-up. */
  readonly lookup?: RequestOptions['lookup'] | undefined;
  readonly tls?:
    | { readonly ca?: string | undefined; readonly rejectUnauthorized: true }
    | undefined;
}

type EncodedRequest = OutgoingRequest & { readonly body: Uint8Array | undefined };

export interface Exchange {
  readonly response: IncomingMessage;
  /** Ends the exchange; reading the response throws this error. */
  fail(error: HttpError): void;
}

const sharedAgent = new Agent({ keepAlive: true, noDelay: true, scheduling: 'lifo' });

/** Sends a request and resolves with the head of its response. Rejects with `HttpError`. */
export async function sendRequest(given: OutgoingRequest): Promise<Exchange> {
  const { target, proxy, signal } = given;
  // Encoded once: counting and sending a long text would each go through it again.
  const body = typeof given.body === 'string' ? Buffer.from(given.body) : given.body;
  const request = { ...given, body };
  // An https request goes through a tunnel; a plain one asks the proxy for the whole URL.
  const relay = target.protocol === 'http:' ? proxy : undefined;
  const isSecure = (relay?.url ?? target).protocol === 'https:';
  try {
    const secure = isSecure ? await import('./https-agent.js') : undefined;
    if (signal?.aborted) throw new HttpError('aborted', 'the request was aborted');
    const options = requestOptions(request, relay);
    if (secure === undefined) return await responseTo(plainRequest(options), request);
    const tunnel = relay === undefined ? proxy?.url : undefined;
    const agent = request.agent === false && tunnel === undefined ? false : secure.agentFor(tunnel);
    const outgoing = secure.https.request({ ...options, agent, ...request.tls });
    return await responseTo(outgoing, request);
  } catch (thrown) {
    throw toHttpError(thrown, target);
  }
}

function requestOptions(request: EncodedRequest, relay: HttpProxy | undefined): RequestOptions {
  const { target, body } = request;
  const headers = { host: target.host, ...relay?.headers, ...request.headers };
  // fail-closed: a second way to say where the body ends would let a server see another request.
  if (Object.keys(headers).some((name) => name.toLowerCase() === 'transfer-encoding')) {
    throw new HttpError('other', 'the header "transfer-encoding" cannot be set');
  }
  return {
    method: request.method,
    hostname: withoutBrackets((relay?.url ?? target).hostname),
    port: relay?.port ?? portOf(target),
    path: `${relay === undefined ? '' : target.origin}${target.pathname}${target.search}`,
    headers: body === undefined ? headers : { ...headers, 'content-length': body.byteLength },
    lookup: request.lookup,
    agent: request.agent ?? sharedAgent,
  };
}

function responseTo(outgoing: ClientRequest, request: EncodedRequest): Promise<Exchange> {
  const { target, signal, headTimeoutMs = 0 } = request;
  const connectTimeoutMs = request.connectTimeoutMs ?? DEFAULT_CONNECT_TIMEOUT_MS;
  return new Promise((resolve, reject) => {
    let response: IncomingMessage | undefined;
    let bytesBefore = 0;
    const timers: NodeJS.Timeout[] = [];
    // Few requests fail, and an error with its stack takes a tenth of a turn to make.
    const failAfter = (ms: number, error: () => HttpError): NodeJS.Timeout => {
      const timer = setTimeout(() => fail(error()), ms);
      timers.push(timer);
      return timer;
    };
    const fail = (error: HttpError): void => {
      reject(error);
      (response ?? outgoing).destroy(error);
    };
    const onAbort = (): void => fail(new HttpError('aborted', 'the request was aborted'));
    outgoing.on('error', (error) => {
      // Bytes after a complete response only make the connection useless.
      if (response?.complete) return;
      const isUnanswered = outgoing.socket?.bytesRead === bytesBefore;
      fail(toHttpError(error, target, { mayBeStale: outgoing.reusedSocket && isUnanswered }));
    });
    outgoing.once('close', () => {
      signal?.removeEventListener('abort', onAbort);
      for (const timer of timers) clearTimeout(timer);
    });
    signal?.addEventListener('abort', onAbort, { once: true });
    const connecting = failAfter(
      connectTimeoutMs,
      () =>
        new HttpError('timeout', `no connection to ${target.host} within ${connectTimeoutMs} ms`),
    );
    outgoing.once('socket', (socket) => {
      bytesBefore = socket.bytesRead;
      // A connection that is reused emits no such event: the listener would stay on it.
      if (outgoing.reusedSocket) return clearTimeout(connecting);
      const opened = 'encrypted' in socket ? 'secureConnect' : 'connect';
      socket.once(opened, () => clearTimeout(connecting));
    });
    if (headTimeoutMs > 0)
      failAfter(headTimeoutMs, () => silence(target, headTimeoutMs, headTimeoutMs));
    outgoing.once('response', (incoming) => {
      response = incoming;
      for (const timer of timers) clearTimeout(timer);
      // Readers get the error from the stream; without a listener Node would drop it.
      incoming.on('error', () => {});
      incoming.once('end', () => {
        // A request that was answered before it was sent completely blocks its connection.
        if (!outgoing.writableFinished) outgoing.destroy();
      });
      resolve({ response: incoming, fail });
    });
    outgoing.end(request.body);
  });
}

/** The error for a server that sends nothing; `waitedMs` only while no response has begun. */
export function silence(target: URL, ms: number, waitedMs?: number): HttpError {
  return new HttpError('timeout', `${target.host} sent nothing for ${ms / 1000} s`, { waitedMs });
}

/** Parses an http or https URL. Throws `HttpError`. */
export function parseTarget(url: string): URL {
  const target = parseUrl(url);
  if (target === undefined) throw new HttpError('invalid_url', `"${url}" is not a URL`);
  if (target.protocol === 'http:' || target.protocol === 'https:') return target;
  throw new HttpError('invalid_url', `"${url}" is neither http: nor https:`);
}

/** Joins repeated headers; Node leaves only cookies as a list. */
export function flatHeaders(headers: IncomingHttpHeaders): Record<string, string> {
  return Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [name, [value ?? ''].flat().join(', ')]),
  );
}
