import type { AuthProvider, JSONRPCMessage, Transport } from '@modelcontextprotocol/client';
import { orAbort } from '../../lib/abort.js';
import type { Fetch } from '../../platform/http/fetch.js';
import { Failed } from '../connection/classify.js';
import type { StepUpChallenge } from '../connection/deps.js';
import type { McpLibrary } from '../connection/library.js';
import { LONGEST_TIMER_MS } from '../connection/timeouts.js';
import { BoundedTransport, type SendOptions } from './bounded.js';
import { readAnswers, WaitingRequests } from './http-answers.js';

type LibraryTransport = Transport & { terminateSession?(): Promise<void> };

interface RemoteParts {
  readonly library: McpLibrary;
  readonly url: URL;
  readonly fetch: Fetch;
  readonly headers: Readonly<Record<string, string>>;
  /** Asks for the headers once more; absent where none but the entry's are sent. */
  readonly freshHeaders?: () => Promise<Readonly<Record<string, string>>>;
  readonly authProvider: AuthProvider | undefined;
  readonly stepUp: ((challenge: StepUpChallenge) => Promise<boolean>) | undefined;
  readonly monotonic: () => number;
}

/** Attempts to reopen a stream that broke off, each after twice the pause of the one before. */
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
    // Ours has been asked by then.
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
  // The library would open another stream, whose session nobody has initialised.
  const isFatal = (error: Error): boolean => error instanceof parts.library.SseError;
  return new WatchedTransport(inner, waiting, { ...parts, isFatal });
}

/**
 * The library's transport: a request whose stream ends without an answer fails at once, and a cancelled one lets go of its
 * stream, which the library would go on to reopen (typescript-sdk#2615).
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

  /** Tells a server with a session that it may forget it; waits no longer than that. */
  async leave(ms: number): Promise<void> {
    if (this.#inner.terminateSession === undefined || this.sessionId === undefined) return;
    // It may be gone already, not know of such a thing, or take too long.
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
 * Adds the configured headers to what goes to the server itself, and to nothing else: where a sign-in
 * or a redirect leads is another host's business. A refusal for want of rights gets one second try.
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
      // Fresh ones that are refused as well will not do better the next time.
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

/** The library's own headers stay; a configured one never takes the place of a protocol header. */
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

/** The same origin, or its secure form on the default port. */
function isSameServer(server: URL, target: URL): boolean {
  if (server.origin === target.origin) return true;
  const isUpgrade = server.protocol === 'http:' && target.protocol === 'https:';
  return (
    isUpgrade && server.hostname === target.hostname && server.port === '' && target.port === ''
  );
}

/** Headers as they may be sent. Throws for one that HTTP does not know. */
export function checkedHeaders(headers: Readonly<Record<string, string>>): Record<string, string> {
  for (const [name, value] of Object.entries(headers)) {
    // fail-closed: half a set of headers could mean another identity.
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

/** A stream that is opened anew this soon after the last time has brought nothing. */
const SHORT_MS = 30_000;
/** Pauses that the server may choose by itself, one after the other. */
const OWN_CHOICE = 3;
const LEAST_MS = 100;

/**
 * The pause before a stream is opened anew. The library waits as long as the server says (`retry:`), and a wait of nothing
 * would be a loop: it is believed a few times, after that the pauses have a floor that grows to half a minute.
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
