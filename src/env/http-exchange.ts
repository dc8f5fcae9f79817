import { type Abortable, stopWatching, watchAbort } from './abort-watch.js';
import { ChunkQueue, type ChunkSender } from './http-chunks.js';
import type { Break, Exchange, HttpConnection, Sendable } from './http-connection.js';
import { HttpError } from './http-error.js';
import { failureOf } from './http-failure.js';
import type { Place } from './http-place.js';
import { TextPieces } from './text-pieces.js';

export interface HttpRequest {
  readonly url: string;
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** The bytes must not change until the answer came. */
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
  /** The next of the chunks, if it is there already; undefined: to iterate tells how it goes on. */
  take?(): string | undefined;
  /**
   * For a reader that has seen all it wants. An end of the body within `graceMs` frees the connection
   * for the next request; otherwise it is dropped.
   */
  finish(graceMs: number): void;
}

/** Who waits for the answer. */
export interface Waiting {
  resolve(response: HttpResponse): void;
  reject(error: HttpError): void;
}

/** What is sent, and where to. */
export interface Outgoing extends Sendable {
  readonly target: URL;
  readonly place: Place;
  /** The answer has no body, whatever it says. */
  readonly isBodiless: boolean;
  readonly connectTimeoutMs: number;
  readonly idleTimeoutMs: number;
  readonly signal: AbortSignal | undefined;
  /** Puts it on a connection. */
  dispatch(exchange: HttpExchange): void;
}

/** How many dead connections a request may meet. */
const MAX_STALE_SOCKETS = 4;

/**
 * A request from its sending to the end of its answer. A kept-alive connection may have been closed by the
 * server a moment before we write to it: such a request never reached anybody, so it is sent again at once.
 */
export class HttpExchange implements Exchange, ChunkSender, Abortable {
  readonly outgoing: Outgoing;
  /** Ends the opening of a connection. */
  giveUp: (() => void) | undefined;
  readonly #waiting: Waiting;
  readonly #chunks = new ChunkQueue<string>(this);
  readonly #text = new TextPieces();
  #connection: HttpConnection | undefined;
  #isAnswered = false;
  #isOver = false;
  #staleSockets = 0;

  constructor(outgoing: Outgoing, waiting: Waiting) {
    this.outgoing = outgoing;
    this.#waiting = waiting;
    if (outgoing.signal !== undefined) watchAbort(outgoing.signal, this);
  }

  get isBodiless(): boolean {
    return this.outgoing.isBodiless;
  }

  get idleTimeoutMs(): number {
    return this.outgoing.idleTimeoutMs;
  }

  get isOver(): boolean {
    return this.#isOver;
  }

  on(connection: HttpConnection): void {
    this.#connection = connection;
  }

  head(status: number, headers: Readonly<Record<string, string>>): void {
    this.#isAnswered = true;
    this.#waiting.resolve(new ChunkedResponse(status, headers, this.#chunks));
  }

  body(bytes: Buffer, from: number, to: number): void {
    this.#give(this.#text.add(bytes, from, to));
  }

  end(): void {
    this.#settle();
    this.#give(this.#text.end());
    this.#chunks.end();
  }

  broke(how: Break, { isStale }: { readonly isStale: boolean }): void {
    if (this.#isOver) return;
    const { target, idleTimeoutMs } = this.outgoing;
    const isAnswered = this.#isAnswered;
    const failure = failureOf(how, { target, idleTimeoutMs, isStale, isAnswered });
    if (!failure.staleSocket || ++this.#staleSockets >= MAX_STALE_SOCKETS) {
      this.#fail(failure);
      return;
    }
    this.#connection = undefined;
    this.giveUp = undefined;
    this.outgoing.dispatch(this);
  }

  late(ms: number): void {
    const { host } = this.outgoing.target;
    this.#fail(new HttpError('timeout', `no connection to ${host} within ${ms} ms`));
  }

  aborted(): void {
    this.#fail(new HttpError('aborted', 'the request was aborted'));
  }

  /** The reader has left: so has the connection. */
  drop(): void {
    this.#settle();
    this.#leave();
  }

  /** The reader has caught up. */
  resume(): void {
    this.#connection?.resume(this);
  }

  #give(text: string): void {
    if (text !== '' && this.#chunks.push(text)) this.#connection?.pause(this);
  }

  #fail(error: HttpError): void {
    if (this.#isOver) return;
    this.#settle();
    if (this.#isAnswered) this.#chunks.fail(error);
    else this.#waiting.reject(error);
    this.#leave();
  }

  #leave(): void {
    if (this.#connection === undefined) this.giveUp?.();
    else this.#connection.drop(this);
  }

  #settle(): void {
    this.#isOver = true;
    const { signal } = this.outgoing;
    if (signal !== undefined) stopWatching(signal, this);
  }
}

class ChunkedResponse implements HttpResponse {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly chunks: ChunkQueue<string>;

  constructor(
    status: number,
    headers: Readonly<Record<string, string>>,
    chunks: ChunkQueue<string>,
  ) {
    this.status = status;
    this.headers = headers;
    this.chunks = chunks;
  }

  take(): string | undefined {
    return this.chunks.take();
  }

  finish(graceMs: number): void {
    this.chunks.finish(graceMs);
  }
}
