import { ChunkQueue } from './http-chunks.js';
import type { Break, Exchange, HttpConnection } from './http-connection.js';
import { HttpError } from './http-error.js';
import { failureOf } from './http-failure.js';
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

/** How many dead connections a request may meet. */
const MAX_STALE_SOCKETS = 4;

/**
 * A request from its sending to the end of its answer. A kept-alive connection may have been closed by the
 * server a moment before we write to it: such a request never reached anybody, so it is sent again at once.
 */
export class HttpExchange implements Exchange {
  readonly isBodiless: boolean;
  readonly idleTimeoutMs: number;
  /** Ends the opening of a connection. */
  giveUp: (() => void) | undefined;
  readonly #target: URL;
  readonly #signal: AbortSignal | undefined;
  readonly #waiting: Waiting;
  readonly #dispatch: (exchange: HttpExchange) => void;
  readonly #chunks: ChunkQueue<string>;
  readonly #text = new TextPieces();
  #connection: HttpConnection | undefined;
  #isAnswered = false;
  #isOver = false;
  #staleSockets = 0;

  constructor(
    request: HttpRequest,
    {
      target,
      waiting,
      dispatch,
    }: {
      readonly target: URL;
      readonly waiting: Waiting;
      /** Puts it on a connection. */
      dispatch(exchange: HttpExchange): void;
    },
  ) {
    this.#dispatch = dispatch;
    this.isBodiless = request.method?.toUpperCase() === 'HEAD';
    this.idleTimeoutMs = request.idleTimeoutMs ?? 0;
    this.#target = target;
    this.#signal = request.signal;
    this.#waiting = waiting;
    this.#chunks = new ChunkQueue<string>(this.#drop);
    this.#signal?.addEventListener('abort', this.#onAbort, { once: true });
  }

  get isOver(): boolean {
    return this.#isOver;
  }

  on(connection: HttpConnection): void {
    this.#connection = connection;
  }

  head(status: number, headers: Readonly<Record<string, string>>): void {
    this.#isAnswered = true;
    const chunks = this.#chunks;
    this.#waiting.resolve({
      status,
      headers,
      chunks,
      finish: (graceMs) => chunks.finish(graceMs),
    });
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
    const { idleTimeoutMs } = this;
    const failure = failureOf(how, { target: this.#target, idleTimeoutMs, isStale });
    if (!failure.staleSocket || ++this.#staleSockets >= MAX_STALE_SOCKETS) {
      this.#fail(failure);
      return;
    }
    this.#connection = undefined;
    this.giveUp = undefined;
    this.#dispatch(this);
  }

  late(ms: number): void {
    this.#fail(new HttpError('timeout', `no connection to ${this.#target.host} within ${ms} ms`));
  }

  readonly #onAbort = (): void => this.#fail(new HttpError('aborted', 'the request was aborted'));

  /** The reader has left: so has the connection. */
  readonly #drop = (): void => {
    this.#settle();
    this.#leave();
  };

  #give(text: string): void {
    if (text === '' || !this.#chunks.push(text)) return;
    const connection = this.#connection;
    this.#chunks.onDrain = () => connection?.resume(this);
    connection?.pause(this);
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
    this.#signal?.removeEventListener('abort', this.#onAbort);
  }
}
