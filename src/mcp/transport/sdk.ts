import type { JSONRPCMessage } from '@modelcontextprotocol/client';
import { isRecord } from '../../lib/own.js';
import type { SdkBridge } from '../connection/deps.js';
import { HostFailed } from '../connection/thrown.js';
import { messageOf } from './messages.js';
import { LimitedTransport, type RateLimitParts } from './rate-limit.js';

/** A server in the host's process: each request is carried there and its answer comes back with it. */
export class SdkTransport extends LimitedTransport {
  readonly #bridge: SdkBridge;

  constructor(bridge: SdkBridge, parts: RateLimitParts) {
    super(parts);
    this.#bridge = bridge;
  }

  async start(): Promise<void> {
    this.#bridge.onmessage = (message) => this.#receive(message);
  }

  protected async transmit(message: JSONRPCMessage): Promise<void> {
    const answer = await this.#carry(message);
    const isRequest = 'method' in message && 'id' in message;
    // Hosts acknowledge notifications with an answer that means nothing.
    if (!isRequest) return;
    if (!isRecord(answer)) throw new HostFailed();
    this.#receive(answerTo(message.id, answer));
  }

  async #carry(message: JSONRPCMessage): Promise<unknown> {
    try {
      return await this.#bridge.send(message as unknown as Readonly<Record<string, unknown>>);
    } catch {
      throw new HostFailed();
    }
  }

  async close(): Promise<void> {
    this.#bridge.onmessage = undefined;
    this.over();
  }

  #receive(message: unknown): void {
    // Some hosts leave the version out.
    const said = isRecord(message) ? messageOf({ ...message, jsonrpc: '2.0' }) : undefined;
    if (said !== undefined) this.deliver(said);
    else if (!isRecord(message)) this.fail(new Error('something that is no message'));
  }
}

/** It came back with the request, so that it needs no id. fail-closed: one of another request is no answer. */
function answerTo(
  id: string | number,
  answer: Readonly<Record<string, unknown>>,
): Readonly<Record<string, unknown>> {
  const given = answer.id ?? id;
  const isIts = given === id || (typeof given === 'string' && Number(given) === id);
  if (isIts && (answer.method ?? null) === null) return { ...answer, id };
  throw new Error('the host answered something else');
}
