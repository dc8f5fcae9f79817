import type { JSONRPCMessage, MessageExtraInfo, Transport } from '@modelcontextprotocol/client';
import { StdioTransport } from './stdio.js';
import { TRAFFIC_LIMITS, Traffic, type TrafficKind, type TrafficLimits } from './traffic.js';

type SendOptions = Parameters<Transport['send']>[1];

export interface BoundedParts {
  readonly limits: TrafficLimits;
  readonly monotonic: () => number;
  /** Something of this kind was not taken. */
  onExcess(kind: TrafficKind): void;
}

/** Our answer to a request that is one too many. */
const TOO_MANY = { code: -32005, message: 'too many requests; this one was not handled' };

/** Any transport with bounds for what the server sends by itself. */
export function boundedTransport(inner: Transport, parts: BoundedParts): BoundedTransport {
  return inner instanceof StdioTransport
    ? new BoundedStdioTransport(inner, parts)
    : new BoundedTransport(inner, parts);
}

export class BoundedTransport implements Transport {
  onclose?: (() => void) | undefined;
  onerror?: ((error: Error) => void) | undefined;
  onmessage?: Transport['onmessage'];
  readonly hasPerRequestStream: boolean;
  readonly #inner: Transport;
  readonly #parts: BoundedParts;
  readonly #traffic: Traffic;
  #cutFor: string | undefined;
  #isOver = false;

  constructor(inner: Transport, parts: BoundedParts) {
    this.#inner = inner;
    this.#parts = parts;
    this.#traffic = new Traffic(parts.limits, parts.monotonic);
    this.hasPerRequestStream = inner.hasPerRequestStream === true;
  }

  /** Why it was ended by us: what the server sent too much of. */
  get cutFor(): string | undefined {
    return this.#cutFor;
  }

  get sessionId(): string | undefined {
    return this.#inner.sessionId;
  }

  setProtocolVersion(version: string): void {
    this.#inner.setProtocolVersion?.(version);
  }

  setSupportedProtocolVersions(versions: string[]): void {
    this.#inner.setSupportedProtocolVersions?.(versions);
  }

  /** The handshake is over. `answersRequests`: false where the protocol knows no requests of servers. */
  connected(how: { readonly answersRequests: boolean }): void {
    this.#traffic.connected(how);
  }

  async start(): Promise<void> {
    this.#inner.onmessage = (message: JSONRPCMessage, extra?: MessageExtraInfo) =>
      this.#receive(message, extra);
    this.#inner.onerror = (error) => this.#noise(error);
    this.#inner.onclose = () => this.#over();
    await this.#inner.start();
  }

  async send(message: JSONRPCMessage, options?: SendOptions): Promise<void> {
    if (!('method' in message)) {
      // As long as it is not gone out, it takes memory.
      return this.#inner.send(message, options).finally(() => this.#traffic.answered(message.id));
    }
    if (!('id' in message)) {
      if (message.method === 'notifications/cancelled')
        this.#traffic.forgot(message.params?.requestId);
      return this.#inner.send(message, options);
    }
    this.#traffic.asked(message.id);
    try {
      await this.#inner.send(message, options);
    } catch (thrown) {
      this.#traffic.forgot(message.id);
      throw thrown;
    }
  }

  async close(): Promise<void> {
    await this.#inner.close();
    this.#over();
  }

  #receive(message: JSONRPCMessage, extra: MessageExtraInfo | undefined): void {
    if (this.#isOver) return;
    const { kind, verdict } = this.#traffic.judge(message);
    if (verdict === 'taken') {
      this.onmessage?.(message, extra);
      return;
    }
    this.#parts.onExcess(kind);
    if (verdict === 'cut') this.#cut(kind);
    else if (verdict === 'refused' && 'id' in message && message.id !== undefined) {
      void this.#refuse(message.id);
    }
    // What it stands for is done once for many by whoever hears it, and is not to be missed.
    else if ('method' in message && message.method.endsWith('/list_changed')) {
      this.onmessage?.(message, extra);
    }
  }

  #noise(error: Error): void {
    if (this.#isOver) return;
    const verdict = this.#traffic.noise();
    if (verdict === 'taken') {
      this.onerror?.(error);
      return;
    }
    this.#parts.onExcess('notes');
    if (verdict === 'cut') this.#cut('notes');
  }

  async #refuse(id: string | number): Promise<void> {
    try {
      await this.#inner.send({ jsonrpc: '2.0', id, error: TOO_MANY });
    } catch {
      // A server that does not even hear that it asks too much is told of by its count.
    } finally {
      this.#traffic.refusalSent();
    }
  }

  #cut(kind: TrafficKind): void {
    const { perSecond, mostExcess } = this.#parts.limits[kind];
    const what = kind === 'requests' ? 'requests' : 'notifications and other messages';
    this.#cutFor = `it sent more than ${number(mostExcess)} ${what} above the ${number(perSecond)} a second that are taken (a long one counts as several)`;
    // Whoever waits for an answer hears at once; a program takes its time to end.
    this.#over();
    this.#inner.close().catch(() => {
      // It is let go of, however that ends.
    });
  }

  #over(): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.onclose?.();
  }
}

/** The library knows a program by these two. */
class BoundedStdioTransport extends BoundedTransport {
  readonly #child: StdioTransport;

  constructor(child: StdioTransport, parts: BoundedParts) {
    super(child, parts);
    this.#child = child;
  }

  get pid(): number | null {
    return this.#child.pid;
  }

  get stderr(): string {
    return this.#child.stderr;
  }
}

/** For people, once for each server: what it is held to. */
export function limitsText({ requests, notes }: TrafficLimits = TRAFFIC_LIMITS): string {
  return `${number(requests.perSecond)} requests and ${number(notes.perSecond)} notifications a second`;
}

function number(count: number): string {
  return count.toLocaleString('en-US');
}
