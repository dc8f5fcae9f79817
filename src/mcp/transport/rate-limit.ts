import type { JSONRPCMessage, MessageExtraInfo, Transport } from '@modelcontextprotocol/client';
import { isRecord } from '../../lib/own.js';

export type SendOptions = Parameters<Transport['send']>[1];

/** What a server sends on its own: requests, or notifications and everything that is no answer to us. */
export type MessageKind = 'requests' | 'notifications';

/** `burst` messages at once, then `perSecond`; after `mostExcess` above that the server is disconnected. */
interface Limit {
  readonly burst: number;
  readonly perSecond: number;
  readonly mostExcess: number;
}

/** A server that reports every step of long work and logs each line stays far below. */
export const RATE_LIMITS: Readonly<Record<MessageKind, Limit>> = {
  requests: { burst: 300, perSecond: 100, mostExcess: 3_000 },
  notifications: { burst: 10_000, perSecond: 2_000, mostExcess: 100_000 },
};
/** Requests being answered, and refusals being sent, at the same moment. */
export const MOST_OPEN_REQUESTS = 100;
/** Excess is forgiven after this long without any. */
const CALM_MS = 60_000;
/** A message counts once more for each stretch of this many characters. */
const CHARS_PER_MESSAGE = 4_096;
const LONGEST_ID = 256;
const TOO_MANY = { code: -32005, message: 'too many requests; this one was not handled' };

export interface RateLimitParts {
  monotonic(): number;
  /** A message of this kind was not handled. */
  onExcess(kind: MessageKind): void;
}

/**
 * The library handles whatever a server sends, however much: every transport refuses requests and drops notifications
 * above a rate, and disconnects a server that goes on. Answers to our own requests are never counted.
 */
export abstract class LimitedTransport implements Transport {
  onclose?: (() => void) | undefined;
  onerror?: ((error: Error) => void) | undefined;
  onmessage?: Transport['onmessage'];
  readonly #parts: RateLimitParts;
  readonly #meters: Readonly<Record<MessageKind, Meter>>;
  /** Our requests that wait for an answer; the library takes "7" for 7. */
  readonly #asked = new Set<string>();
  /** Requests of the server that are being answered: how many have each id. */
  readonly #answering = new Map<unknown, number>();
  #refusing = 0;
  #answersRequests = true;
  #cutFor: string | undefined;
  #isOver = false;

  constructor(parts: RateLimitParts) {
    this.#parts = parts;
    const meter = (kind: MessageKind) => new Meter(RATE_LIMITS[kind], parts.monotonic);
    this.#meters = { requests: meter('requests'), notifications: meter('notifications') };
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

  /** The request that waits, where it is the only one. */
  protected get onlyAsked(): string | undefined {
    const [only] = this.#asked;
    return this.#asked.size === 1 ? only : undefined;
  }

  /** After the handshake. `answersRequests`: false where the protocol knows no requests of servers. */
  connected({ answersRequests }: { readonly answersRequests: boolean }): void {
    this.#answering.clear();
    this.#answersRequests = answersRequests;
  }

  async send(message: JSONRPCMessage, options?: SendOptions): Promise<void> {
    // An answer takes memory until it is sent.
    if (!('method' in message))
      return this.transmit(message, options).finally(() => this.#answered(message.id));
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

  /** Something came that is no message, or went wrong beside all requests. */
  protected fail(error: Error): void {
    if (this.#isOver) return;
    if (this.#meters.notifications.take(1)) this.onerror?.(error);
    else this.#exceeded('notifications');
  }

  protected over(): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.onclose?.();
  }

  protected deliver(message: JSONRPCMessage, extra?: MessageExtraInfo): void {
    if (this.#isOver) return;
    const { id, method, params } = message as { id?: unknown; method?: string; params?: unknown };
    const isRequest = method !== undefined && (typeof id === 'string' || typeof id === 'number');
    const kind = isRequest ? 'requests' : 'notifications';
    const isAnswer = method === undefined && this.#asked.delete(String(id));
    const ends =
      method === 'notifications/cancelled' && isRecord(params) && this.#answered(params.requestId);
    if (isAnswer || ends || this.#takes(kind, id, message)) {
      this.onmessage?.(message, extra);
      return;
    }
    this.#exceeded(kind, costOf(message));
    if (this.#isOver) return;
    if (isRequest) void this.#refuse(id as string | number);
    // Its listener handles many at once, and must not miss one.
    else if (method?.endsWith('/list_changed')) this.onmessage?.(message, extra);
  }

  #takes(kind: MessageKind, id: unknown, message: JSONRPCMessage): boolean {
    if (kind === 'requests') {
      const open = [...this.#answering.values()].reduce((sum, count) => sum + count, 0);
      if (String(id).length > LONGEST_ID || open >= MOST_OPEN_REQUESTS) return false;
    }
    if (!this.#meters[kind].take(costOf(message))) return false;
    if (kind === 'requests' && this.#answersRequests)
      this.#answering.set(id, (this.#answering.get(id) ?? 0) + 1);
    return true;
  }

  #answered(id: unknown): boolean {
    const count = this.#answering.get(id);
    if (count === undefined) return false;
    if (count === 1) this.#answering.delete(id);
    else this.#answering.set(id, count - 1);
    return true;
  }

  #exceeded(kind: MessageKind, cost = 1): void {
    this.#parts.onExcess(kind);
    const { perSecond, mostExcess } = RATE_LIMITS[kind];
    if (this.#meters[kind].exceed(cost) <= mostExcess) return;
    // fail-closed: a server that goes on and on is not listened to.
    const what = kind === 'requests' ? 'requests' : 'notifications and other messages';
    this.#cutFor = `it sent more than ${number(mostExcess)} ${what} above the ${number(perSecond)} a second that are taken (a long one counts as several)`;
    this.over();
    // Its callers hear at once; a child process takes its time to end.
    this.close().catch(() => {});
  }

  async #refuse(id: string | number): Promise<void> {
    if (this.#refusing >= MOST_OPEN_REQUESTS || !this.#answersRequests) return;
    if (String(id).length > LONGEST_ID) return;
    this.#refusing += 1;
    // A server that does not take the refusal is known by its count.
    await this.transmit({ jsonrpc: '2.0', id, error: TOO_MANY }).catch(() => {});
    this.#refusing -= 1;
  }
}

/** Fills with time and is emptied by messages. A large one may leave a debt, or it would never pass. */
class Meter {
  readonly #limit: Limit;
  readonly #monotonic: () => number;
  #level: number;
  #at: number;
  #excess = 0;
  #exceededAt = Number.NEGATIVE_INFINITY;

  constructor(limit: Limit, monotonic: () => number) {
    this.#limit = limit;
    this.#monotonic = monotonic;
    this.#level = limit.burst;
    this.#at = monotonic();
  }

  take(cost: number): boolean {
    const { burst, perSecond } = this.#limit;
    const now = this.#monotonic();
    this.#level = Math.min(burst, this.#level + ((now - this.#at) / 1000) * perSecond);
    this.#at = now;
    if (this.#level < 1) return false;
    this.#level -= cost;
    return true;
  }

  /** The excess since the last calm. */
  exceed(cost: number): number {
    const now = this.#monotonic();
    if (now - this.#exceededAt >= CALM_MS) this.#excess = 0;
    this.#exceededAt = now;
    this.#excess += cost;
    return this.#excess;
  }
}

function costOf(message: unknown): number {
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
  return 1 + Math.floor(chars / CHARS_PER_MESSAGE);
}

/** For people: the limits of a server. */
export function limitsText(): string {
  const { requests, notifications } = RATE_LIMITS;
  return `${number(requests.perSecond)} requests and ${number(notifications.perSecond)} notifications a second`;
}

function number(count: number): string {
  return count.toLocaleString('en-US');
}
