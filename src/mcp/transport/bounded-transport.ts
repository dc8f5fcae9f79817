import type { JSONRPCMessage, MessageExtraInfo, Transport } from '@modelcontextprotocol/client';
import { isRecord } from '../../lib/own.js';
import { isId, type MessageId, messagesIn } from './messages.js';

export type SendOptions = Parameters<Transport['send']>[1];

/** The allowance for messages that a server initiates: a burst, and a rate per second. */
const BURST = 100_000;
const PER_SECOND = 2_000;
/** A request costs more, because we have to answer it. */
const COST_OF_REQUEST = 20;
/** Long messages count once more per this many characters. */
const CHARS_PER_MESSAGE = 4_096;
/** The limit for concurrent requests of the server, and for concurrent refusals. */
export const MOST_OPEN_REQUESTS = 100;
const LONGEST_ID = 256;
const TOO_MANY = { code: -32005, message: 'too many requests; this one was not handled' };

/**
 * Limits what a server may send, because the library handles everything: refuses requests while too many are
 * open and disconnects a flooding server. Responses to our requests do not count.
 */
export abstract class BoundedTransport implements Transport {
  onclose?: (() => void) | undefined;
  onerror?: ((error: Error) => void) | undefined;
  onmessage?: Transport['onmessage'];
  readonly #monotonic: () => number;
  #budget = BURST;
  #paidAt: number;
  /** Our open requests; as strings, because the library equates "7" and 7. */
  readonly #asked = new Set<string>();
  readonly #answering = new Set<MessageId>();
  #refusing = 0;
  #answersRequests = true;
  #cutFor: string | undefined;
  #isOver = false;

  constructor(monotonic: () => number) {
    this.#monotonic = monotonic;
    this.#paidAt = monotonic();
  }

  abstract start(): Promise<void>;
  abstract close(): Promise<void>;
  protected abstract transmit(message: JSONRPCMessage, options?: SendOptions): Promise<void>;

  /** Why we disconnected the server, if we did. */
  get cutFor(): string | undefined {
    return this.#cutFor;
  }

  protected get isOver(): boolean {
    return this.#isOver;
  }

  /** Call after the handshake; `answersRequests` is false for protocols without server requests. */
  connected({ answersRequests }: { readonly answersRequests: boolean }): void {
    this.#answering.clear();
    this.#answersRequests = answersRequests;
  }

  async send(message: JSONRPCMessage, options?: SendOptions): Promise<void> {
    if (!('method' in message)) {
      // The slot is held until the response is sent.
      const { id } = message;
      return this.transmit(message, options).finally(() => isId(id) && this.#answering.delete(id));
    }
    if (!('id' in message)) {
      if (message.method === 'notifications/cancelled')
        this.#asked.delete(String(message.params?.requestId));
      return this.transmit(message, options);
    }
    this.#asked.add(String(message.id));
    try {
      await this.transmit(message, options);
    } catch (thrown) {
      this.#asked.delete(String(message.id));
      throw thrown;
    }
  }

  /** Parses a line or frame and reports anything that is not a message, such as debug output. */
  protected receive(text: string): void {
    const [only] = this.#asked;
    const messages = messagesIn(text, this.#asked.size === 1 ? only : undefined);
    if (messages.length === 0) this.fail(new Error('a text that is no message'));
    for (const message of messages) this.deliver(message);
  }

  /** Reports an invalid message or an error outside of requests. */
  protected fail(error: Error): void {
    if (!this.#isOver && this.#pay(1)) this.onerror?.(error);
  }

  protected over(): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.onclose?.();
  }

  protected deliver(message: JSONRPCMessage, extra?: MessageExtraInfo): void {
    if (this.#isOver) return;
    const { id, method, params } = message as { id?: unknown; method?: string; params?: unknown };
    const isAnswer = method === undefined && this.#asked.delete(String(id));
    const request = method !== undefined && isId(id) ? id : undefined;
    if (!isAnswer) {
      const cost = request === undefined ? 1 : COST_OF_REQUEST;
      if (!this.#pay(cost + Math.floor(charsIn(message) / CHARS_PER_MESSAGE))) return;
    }
    if (request !== undefined && this.#answersRequests && !this.#admits(request)) {
      void this.#refuse(request);
      return;
    }
    if (method === 'notifications/cancelled' && isRecord(params) && isId(params.requestId))
      this.#answering.delete(params.requestId);
    this.onmessage?.(message, extra);
  }

  #pay(cost: number): boolean {
    const now = this.#monotonic();
    const earned = ((now - this.#paidAt) / 1000) * PER_SECOND;
    this.#budget = Math.min(BURST, this.#budget + earned) - cost;
    this.#paidAt = now;
    if (this.#budget >= 0) return true;
    // fail-closed: a flooding server is disconnected.
    this.#cutFor = `it sent more than ${number(BURST)} messages at one go and ${number(PER_SECOND)} a second after that (a request counts as ${COST_OF_REQUEST}, a long message as several)`;
    this.over();
    // Callers are notified first, because a child process takes time to end.
    this.close().catch(() => {});
    return false;
  }

  #admits(request: MessageId): boolean {
    const isFit = String(request).length <= LONGEST_ID && !this.#answering.has(request);
    if (!isFit || this.#answering.size >= MOST_OPEN_REQUESTS) return false;
    this.#answering.add(request);
    return true;
  }

  async #refuse(id: MessageId): Promise<void> {
    if (this.#refusing >= MOST_OPEN_REQUESTS || String(id).length > LONGEST_ID) return;
    this.#refusing += 1;
    // The server may have gone; a refusal needs no retry.
    await this.transmit({ jsonrpc: '2.0', id, error: TOO_MANY }).catch(() => {});
    this.#refusing -= 1;
  }
}

function charsIn(message: unknown): number {
  let chars = 0;
  // Iterative, because nesting may be unbounded.
  const left: unknown[] = [message];
  while (left.length > 0) {
    const value = left.pop();
    if (typeof value === 'string') chars += value.length;
    else if (typeof value === 'object' && value !== null)
      for (const [name, inner] of Object.entries(value)) {
        chars += name.length + 1;
        left.push(inner);
      }
  }
  return chars;
}

function number(count: number): string {
  return count.toLocaleString('en-US');
}
