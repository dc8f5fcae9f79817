import type { Socket } from 'node:net';
import { AnswerParser, type AnswerReader } from './http-answer.js';
import { exchangeIsOver, type Sender, sendSoon } from './http-sending.js';

/** One request on its way, and who waits for its answer. */
export interface Exchange extends AnswerReader {
  readonly isBodiless: boolean;
  /** Longest silence in milliseconds; 0: any. */
  readonly idleTimeoutMs: number;
  /** Nothing more comes. `isStale`: the connection was an old one, and nothing was answered on it. */
  broke(how: Break, circumstances: { readonly isStale: boolean }): void;
}

/** How a connection broke. */
export type Break =
  | { readonly kind: 'closed' }
  | { readonly kind: 'silent' }
  /** What came is no answer. */
  | { readonly kind: 'fault'; readonly reason: string }
  | { readonly kind: 'error'; readonly error: Error };

/** Who keeps a connection. */
export interface ConnectionWatch {
  /** An exchange is over, and another one may follow. */
  onIdle(connection: HttpConnection): void;
  /** It is gone. */
  onClose(connection: HttpConnection): void;
}

/** A request as it goes over the line. */
export interface Sendable {
  readonly head: string;
  readonly body: readonly Uint8Array[];
  /** Of all of it together. */
  readonly bytes: number;
}

/** What is sent at once is copied into one buffer up to here: cheaper than to hand over its parts. */
const MAX_JOINED_BYTES = 256 * 1024;
const FIRST_BUFFER_BYTES = 16 * 1024;
/** A larger buffer is not kept by a connection that nobody uses. */
const MAX_KEPT_BYTES = 64 * 1024;
const NO_BYTES = Buffer.alloc(0);

/** What is sent is mostly gone when `write` returns: one buffer serves all connections. */
let shared: Buffer = NO_BYTES;

/**
 * A kept-alive HTTP/1.1 connection that carries one exchange at a time. Node's own client makes some forty
 * objects and as many calls for each; with many agents that was a third of all work.
 */
export class HttpConnection implements Sender {
  readonly #socket: Socket;
  readonly #onIdle: ConnectionWatch['onIdle'];
  readonly #onClose: ConnectionWatch['onClose'];
  readonly #parser = new AnswerParser();
  #exchange: Exchange | undefined;
  /** Its request, until that is sent. */
  #unsent: Sendable | undefined;
  /** Of its own, where what it sends is under way for longer. */
  #out: Buffer = NO_BYTES;
  #isReused = false;
  /** Nobody uses it, and the process does not stay for it. */
  #isResting = false;
  #isSent = false;
  #hasAnswered = false;
  #idleTimeoutMs = 0;
  #error: Error | undefined;
  /** When the server may close it. */
  #expiresAt = Number.POSITIVE_INFINITY;

  constructor(socket: Socket, { onIdle, onClose }: ConnectionWatch) {
    this.#socket = socket;
    this.#onIdle = onIdle;
    this.#onClose = onClose;
    socket.on('end', () => this.#ended());
    socket.on('error', (error) => {
      this.#error = error;
    });
    socket.on('close', () => this.#closed());
    socket.on('timeout', () => this.#silent());
  }

  get isUsable(): boolean {
    return this.#socket.writable && !this.#socket.destroyed && performance.now() < this.#expiresAt;
  }

  /** Sends a request; its exchange is told what comes of it, which is never before this returns. */
  begin(exchange: Exchange, request: Sendable): void {
    this.#exchange = exchange;
    this.#isSent = false;
    this.#hasAnswered = false;
    this.#parser.expect(exchange);
    if (exchange.idleTimeoutMs !== this.#idleTimeoutMs) {
      this.#idleTimeoutMs = exchange.idleTimeoutMs;
      this.#socket.setTimeout(exchange.idleTimeoutMs);
    }
    if (this.#isResting) {
      this.#isResting = false;
      this.#socket.ref();
    }
    this.#unsent = request;
    sendSoon(this);
  }

  sendNow(): void {
    const request = this.#unsent;
    this.#unsent = undefined;
    // Nobody waits for it any more where the exchange was left meanwhile.
    if (request !== undefined && this.#exchange !== undefined) this.#send(request);
  }

  /** Ends the connection, if this exchange is the one it is busy with. */
  drop(exchange: Exchange): void {
    if (this.#exchange !== exchange) return;
    this.#leave();
    this.#socket.destroy();
  }

  /** What the socket brings. The bytes may be overwritten afterwards. */
  receive(bytes: Buffer): void {
    const exchange = this.#exchange;
    if (exchange === undefined) {
      // Nobody asked for anything.
      this.#socket.destroy();
      return;
    }
    if (!this.#isSent) {
      // What comes before the request was sent is no answer to it.
      this.#socket.destroy();
      this.#break({ kind: 'closed' });
      return;
    }
    this.#hasAnswered = true;
    const problem = this.#parser.push(bytes, this.#reader);
    if (problem === undefined) return;
    // fail-closed: an answer of doubtful length is not read on, and nothing behind it is believed.
    this.#socket.destroy();
    this.#break({ kind: 'fault', reason: problem });
  }

  /** Reads nothing more for this exchange, until it wants to. */
  pause(exchange: Exchange): void {
    if (this.#exchange === exchange) this.#socket.pause();
  }

  resume(exchange: Exchange): void {
    if (this.#exchange === exchange) this.#socket.resume();
  }

  destroy(): void {
    this.#socket.destroy();
  }

  /** At the end of the loop's turn in which an exchange was over: from now on it only waits to be used. */
  rest(): void {
    if (this.#exchange !== undefined || this.#isResting || this.#socket.destroyed) return;
    const { keepAliveMs } = this.#parser;
    this.#isResting = true;
    this.#socket.unref();
    if (keepAliveMs !== undefined)
      this.#expiresAt = performance.now() + keepAliveMs - KEEP_ALIVE_MARGIN_MS;
  }

  #send({ head, body, bytes: size }: Sendable): void {
    const socket = this.#socket;
    this.#isSent = true;
    if (size > MAX_JOINED_BYTES) {
      socket.cork();
      socket.write(head, 'latin1');
      for (const part of body) socket.write(part);
      socket.uncork();
      return;
    }
    const out = this.#bufferFor(size);
    let at = out.write(head, 0, 'latin1');
    for (const part of body) {
      out.set(part, at);
      at += part.byteLength;
    }
    socket.write(out.subarray(0, size));
    // What is not gone yet must not be overwritten: the others get another one.
    if (out !== shared || socket.writableLength === 0) return;
    shared = NO_BYTES;
    if (!socket.connecting) this.#out = out;
  }

  #bufferFor(size: number): Buffer {
    // The last request was sent to its end before its answer came, or the connection would not be used again.
    if (this.#out.length >= size) return this.#out;
    if (shared.length < size) shared = Buffer.allocUnsafeSlow(roomFor(size));
    return shared;
  }

  /** Between parser and exchange: the end of an answer frees the connection. */
  readonly #reader: AnswerReader = {
    head: (status, headers) => this.#exchange?.head(status, headers),
    body: (bytes, from, to) => this.#exchange?.body(bytes, from, to),
    end: () => this.#answered(),
  };

  #answered(): void {
    const exchange = this.#leave();
    const { keepsAlive, keepAliveMs } = this.#parser;
    // An answer that came before the request was sent whole leaves the rest of it on the line.
    if (keepsAlive && this.#socket.writableLength === 0 && this.#socket.writable) {
      const isShort = keepAliveMs !== undefined && keepAliveMs <= KEEP_ALIVE_MARGIN_MS;
      this.#expiresAt = isShort ? Number.NEGATIVE_INFINITY : Number.POSITIVE_INFINITY;
      this.#isReused = true;
      // Its reader may be behind with what has come; whoever uses the connection next is not.
      if (this.#socket.isPaused()) this.#socket.resume();
      if (this.#out.length > MAX_KEPT_BYTES) this.#out = NO_BYTES;
      restSoon(this);
      this.#onIdle(this);
    } else this.#socket.destroy();
    exchange?.end();
  }

  #ended(): void {
    if (this.#exchange === undefined || this.#parser.ended(this.#reader)) return;
    // Not waited for: a server that reads no more keeps what is not sent yet.
    this.#socket.destroy();
    this.#break({ kind: 'closed' });
  }

  #closed(): void {
    this.#out = NO_BYTES;
    this.#onClose(this);
    const error = this.#error;
    this.#break(error === undefined ? { kind: 'closed' } : { kind: 'error', error });
  }

  #silent(): void {
    // A reader that is behind is no silence of the server's.
    if (this.#exchange !== undefined && this.#socket.isPaused()) {
      this.#socket.setTimeout(this.#idleTimeoutMs);
      return;
    }
    this.#socket.destroy();
    this.#break({ kind: 'silent' });
  }

  /** The exchange that was under way. */
  #leave(): Exchange | undefined {
    const exchange = this.#exchange;
    this.#exchange = undefined;
    if (exchange !== undefined) exchangeIsOver();
    return exchange;
  }

  #break(how: Break): void {
    this.#leave()?.broke(how, { isStale: this.#isReused && !this.#hasAnswered });
  }
}

/**
 * Who was used in this turn of the loop. The next request of an agent mostly follows its answer at once and takes
 * the connection that the answer came on: only one that is still free when the turn ends is told to rest.
 */
let used: HttpConnection[] = [];

function restSoon(connection: HttpConnection): void {
  if (used.push(connection) === 1) setImmediate(restAll);
}

function restAll(): void {
  const all = used;
  used = [];
  for (const connection of all) connection.rest();
}

/** How much earlier than the server says a connection is given up: it may be closed while we write. */
const KEEP_ALIVE_MARGIN_MS = 1000;

function roomFor(size: number): number {
  let room = FIRST_BUFFER_BYTES;
  while (room < size) room *= 2;
  return room;
}
