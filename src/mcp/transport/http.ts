import type { AuthProvider, JSONRPCMessage, Transport } from '@modelcontextprotocol/client';
import { orAbort } from '../../lib/abort.js';
import type { Fetch } from '../../platform/http/fetch.js';
import { Failed } from '../connection/classify.js';
import type { StepUpChallenge } from '../connection/deps.js';
import type { McpLibrary } from '../connection/library.js';
import { LONGEST_TIMER_MS } from '../connection/timeouts.js';
import { BoundedTransport, type SendOptions } from './bounded-transport.js';
import { readAnswers, WaitingRequests } from './http-answers.js';

type LibraryTransport = Transport & { terminateSession?(): Promise<void> };

interface RemoteParts {
  readonly library: McpLibrary;
  readonly url: URL;
  readonly fetch: Fetch;
  readonly headers: Readonly<Record<string, string>>;
  /** Requests the headers again; absent without a headers helper. */
  readonly freshHeaders?: () => Promise<Readonly<Record<string, string>>>;
  readonly authProvider: AuthProvider | undefined;
  readonly stepUp: ((challenge: StepUpChallenge) => Promise<boolean>) | undefined;
  readonly monotonic: () => number;
}

/** Reopens a broken stream with doubled pauses. */
const REOPENING = {
  initialReconnectionDelay: 1000,
  maxReconnectionDelay: 30_000,
  reconnectionDelayGrowFactor: 2,
  maxRetries: 5,
};

export function httpTransport(parts: RemoteParts): WatchedTransport {
  const pace = streamPace(() => performance.now());
  const waiting = new WaitingRequests();
  const inner = new parts.library.StreamableHTTPClientTransport(parts.url, {
    fetch: readAnswers(serverFetch(parts), waiting, { hasOwnBody: true }),
    reconnectionOptions: REOPENING,
    reconnectionScheduler(reconnect, delayMs) {
      const timer = setTimeout(reconnect, pace(delayMs));
      return () => clearTimeout(timer);
    },
    // Our own step-up runs earlier, in `serverFetch`.
    onInsufficientScope: 'throw',
    authProvider: parts.authProvider,
  });
  return new WatchedTransport(inner, waiting, { ...parts, isFatal: () => false });
}

export function sseTransport(parts: RemoteParts): WatchedTransport {
  const waiting = new WaitingRequests();
  const inner = new parts.library.SSEClientTransport(parts.url, {
    fetch: readAnswers(serverFetch(parts), waiting, { hasOwnBody: false }),
    authProvider: parts.authProvider,
  });
  // The library would open another stream without an initialised session.
  const isFatal = (error: Error): boolean => error instanceof parts.library.SseError;
  return new WatchedTransport(inner, waiting, { ...parts, isFatal });
}

/**
 * Wraps the library's transport: a request fails at once when its stream ends without a response, and
 * cancelling closes its stream, which the library would keep reopening (typescript-sdk#2615).
 */
export class WatchedTransport extends BoundedTransport {
  readonly hasPerRequestStream: boolean;
  readonly #inner: LibraryTransport;
  readonly #isFatal: (error: Error) => boolean;
  readonly #waiting: WaitingRequests;
  #isStarted = false;

  constructor(
    inner: LibraryTransport,
    waiting: WaitingRequests,
    parts: Pick<RemoteParts, 'monotonic'> & { isFatal(error: Error): boolean },
  ) {
    super(parts.monotonic);
    this.#inner = inner;
    this.#waiting = waiting;
    this.#isFatal = parts.isFatal;
    this.hasPerRequestStream = inner.hasPerRequestStream === true;
  }

  get sessionId(): string | undefined {
    return this.#inner.sessionId;
  }

  setProtocolVersion(version: string): void {
    this.#inner.setProtocolVersion?.(version);
  }

  async start(): Promise<void> {
    this.#inner.onmessage = (message: JSONRPCMessage) => {
      if (!('method' in message) && message.id !== undefined) this.#waiting.remove(message.id);
      this.deliver(message);
    };
    this.#inner.onerror = (error) => {
      this.fail(error);
      if (this.#isStarted && this.#isFatal(error)) void this.close();
    };
    this.#inner.onclose = () => this.over();
    this.#waiting.onFailed = (id, data) => {
      this.deliver({ jsonrpc: '2.0', id, error: { code: -32603, message: 'no answer', data } });
    };
    await this.#inner.start();
    this.#isStarted = true;
  }

  protected async transmit(message: JSONRPCMessage, options: SendOptions = {}): Promise<void> {
    if (!('method' in message)) return this.#inner.send(message, options);
    if ('id' in message) return this.#ask(message, message.id, options);
    await this.#inner.send(message, options);
    if (message.method !== 'notifications/cancelled') return;
    const asked = message.params?.requestId;
    if (typeof asked !== 'string' && typeof asked !== 'number') return;
    this.#waiting.abort(asked);
  }

  /** Ends the server's session and waits at most `ms`. */
  async leave(ms: number): Promise<void> {
    if (this.#inner.terminateSession === undefined || this.sessionId === undefined) return;
    // The server may be gone, slow or not support it.
    await orAbort(this.#inner.terminateSession(), AbortSignal.timeout(ms)).catch(() => {});
  }

  async close(): Promise<void> {
    await this.#inner.close();
    this.over();
  }

  async #ask(
    message: JSONRPCMessage,
    id: string | number,
    options: NonNullable<SendOptions>,
  ): Promise<void> {
    const stream = this.#waiting.add(id);
    const { requestSignal } = options;
    if (requestSignal?.aborted) stream.abort();
    requestSignal?.addEventListener('abort', () => stream.abort(), { once: true });
    try {
      await this.#inner.send(message, {
        ...options,
        requestSignal: stream.signal,
        onRequestStreamEnd: () => {
          options.onRequestStreamEnd?.();
          this.#ended(id);
        },
      });
    } catch (thrown) {
      this.#waiting.remove(id);
      throw thrown;
    }
  }

  #ended(id: string | number): void {
    if (!this.#waiting.remove(id)) return;
    const data = new Failed({ kind: 'closed' });
    const error = { code: -32000, message: 'Connection closed', data };
    this.deliver({ jsonrpc: '2.0', id, error });
  }
}

/**
 * Adds the configured headers to requests to the server itself only, not to sign-in or redirect targets. A
 * refusal for missing rights is retried once.
 */
function serverFetch(parts: RemoteParts): Fetch {
  let extra = parts.headers;
  let isRefreshable = parts.freshHeaders !== undefined;
  return async (url, init = {}) => {
    const target = new URL(url);
    if (!isSameServer(parts.url, target)) return parts.fetch(url, init);
    const send = (more: Readonly<Record<string, string>> = {}): Promise<Response> =>
      parts.fetch(url, { ...init, headers: withHeaders(init.headers, extra, more) });
    let response = await send();
    if (isRefreshable && isRefused(response) && parts.freshHeaders !== undefined) {
      await response.body?.cancel();
      extra = await parts.freshHeaders();
      response = await send();
      // Refused fresh headers would be refused again.
      isRefreshable = !isRefused(response);
    }
    return response.status === 403 ? steppedUp(response, parts, send) : response;
  };
}

function isRefused(response: Response): boolean {
  return response.status === 401 || response.status === 403;
}

async function steppedUp(
  response: Response,
  parts: RemoteParts,
  send: (more: Readonly<Record<string, string>>) => Promise<Response>,
): Promise<Response> {
  const { library, stepUp, authProvider } = parts;
  if (stepUp === undefined || authProvider === undefined) return response;
  const asked = library.extractWWWAuthenticateParams(response);
  if (asked.error !== 'insufficient_scope') return response;
  const hasMore = await stepUp({
    scope: asked.scope,
    resourceMetadataUrl: asked.resourceMetadataUrl?.href,
    description: asked.errorDescription,
  });
  if (!hasMore) return response;
  const token = await authProvider.token();
  if (token === undefined) return response;
  await response.body?.cancel();
  return send({ authorization: `Bearer ${token}` });
}

/** The library's headers take precedence, so a configured one never replaces a protocol header. */
function withHeaders(
  given: RequestInit['headers'],
  extra: Readonly<Record<string, string>>,
  forced: Readonly<Record<string, string>>,
): Headers {
  const headers = new Headers(given);
  for (const [name, value] of Object.entries(extra)) {
    if (!headers.has(name)) headers.set(name, value);
  }
  for (const [name, value] of Object.entries(forced)) headers.set(name, value);
  return headers;
}

/** The same origin, or its https form on the default port. */
function isSameServer(server: URL, target: URL): boolean {
  if (server.origin === target.origin) return true;
  const isUpgrade = server.protocol === 'http:' && target.protocol === 'https:';
  return (
    isUpgrade && server.hostname === target.hostname && server.port === '' && target.port === ''
  );
}

/** Throws for a header that HTTP does not allow. */
export function checkedHeaders(headers: Readonly<Record<string, string>>): Record<string, string> {
  for (const [name, value] of Object.entries(headers)) {
    // fail-closed: a partial set of headers could mean another identity.
    if (!/^[\w!#$%&'*+.^`|~-]+$/.test(name) || /[^\t\x20-\x7e\x80-\xff]/.test(value)) {
      const message = 'a header has a name or value that cannot be sent';
      throw new Failed({ kind: 'headers', message });
    }
  }
  return { ...headers };
}

export function hasAuthorization(headers: Readonly<Record<string, string>>): boolean {
  return Object.keys(headers).some((name) => name.toLowerCase() === 'authorization');
}

/** A stream reopened sooner has delivered nothing. */
const SHORT_MS = 30_000;
/** Consecutive pauses that the server may choose. */
const OWN_CHOICE = 3;
const LEAST_MS = 100;

/**
 * The pause before a stream is reopened. The server's `retry:` of zero would make a loop, so after a few
 * times a minimum applies that grows to 30 s.
 */
export function streamPace(now: () => number): (askedMs: number) => number {
  let inARow = 0;
  let openedAt = Number.NEGATIVE_INFINITY;
  return (askedMs) => {
    inARow = now() - openedAt < SHORT_MS ? inARow + 1 : 0;
    const floor = inARow < OWN_CHOICE ? LEAST_MS : Math.min(SHORT_MS, 2 ** inARow * LEAST_MS);
    const waitMs = Math.min(Math.max(askedMs, floor), LONGEST_TIMER_MS);
    openedAt = now() + waitMs;
    return waitMs;
  };
}
