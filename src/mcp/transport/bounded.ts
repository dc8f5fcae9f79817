import type { JSONRPCMessage, MessageExtraInfo, Transport } from '@modelcontextprotocol/client';
import { isRecord } from '../../lib/own.js';
import { isId, type MessageId, messagesIn } from './messages.js';

export type SendOptions = Parameters<Transport['send']>[1];

/** What a server may send by itself: messages at one go, and in each second after that. */
const BURST = 100_000;
const PER_SECOND = 2_000;
/** An answer has to be made, kept and sent. */
const COST_OF_REQUEST = 20;
/** A message counts once more for each stretch of this many characters. */
const CHARS_PER_MESSAGE = 4_096;
/** Requests being answered, and refusals being sent, at the same moment. */
export const MOST_OPEN_REQUESTS = 100;
const LONGEST_ID = 256;
const TOO_MANY = { code: -32005, message: 'too many requests; this one was not handled' };

/**
 * The library handles whatever a server sends, however much: every transport refuses requests while too many are open, and
 * disconnects a server that sends without end. Answers to our own requests are never counted.
 */
export abstract class BoundedTransport implements Transport {
  onclose?: (() => void) | undefined;
  onerror?: ((error: Error) => void) | undefined;
  onmessage?: Transport['onmessage'];
  readonly #monotonic: () => number;
  #budget = BURST;
  #paidAt: number;
  /** Our requests that wait for an answer; the library takes "7" for 7. */
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

  /** Why we ended it. */
  get cutFor(): string | undefined {
    return this.#cutFor;
  }

  protected get isOver(): boolean {
    return this.#isOver;
  }

  /** After the handshake. `answersRequests`: false where the protocol knows no requests of servers. */
  connected({ answersRequests }: { readonly answersRequests: boolean }): void {
    this.#answering.clear();
    this.#answersRequests = answersRequests;
  }

  async send(message: JSONRPCMessage, options?: SendOptions): Promise<void> {
    if (!('method' in message)) {
      // An answer takes memory until it is sent.
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

  /** A line or frame of the server. What is no message (a greeting, a debug line) is left out. */
  protected receive(text: string): void {
    const [only] = this.#asked;
    const messages = messagesIn(text, this.#asked.size === 1 ? only : undefined);
    if (messages.length === 0) this.fail(new Error('a text that is no message'));
    for (const message of messages) this.deliver(message);
  }

  /** Something came that is no message, or went wrong beside all requests. */
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
    // fail-closed: a server that goes on and on is not listened to.
    this.#cutFor = `it sent more than ${number(BURST)} messages at one go and ${number(PER_SECOND)} a second after that (a request counts as ${COST_OF_REQUEST}, a long message as several)`;
    this.over();
    // Its callers hear at once; a child process takes its time to end.
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
    // A server that does not take the refusal has none.
    await this.transmit({ jsonrpc: '2.0', id, error: TOO_MANY }).catch(() => {});
    this.#refusing -= 1;
  }
}

function charsIn(message: unknown): number {
  let chars = 0;
  // Without recursion: nesting may have no end.
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
