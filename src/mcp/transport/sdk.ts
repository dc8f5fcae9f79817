import type { JSONRPCMessage, Transport } from '@modelcontextprotocol/client';
import { isRecord } from '../../lib/own.js';
import type { SdkBridge } from '../connection/deps.js';
import { HostFailed } from '../connection/thrown.js';
import { messageOf } from './messages.js';

/** A server in the host's process: each request is carried there and its answer comes back with it. */
export class SdkTransport implements Transport {
  onclose?: (() => void) | undefined;
  onerror?: ((error: Error) => void) | undefined;
  onmessage?: Transport['onmessage'];
  readonly #bridge: SdkBridge;
  #isOver = false;

  constructor(bridge: SdkBridge) {
    this.#bridge = bridge;
  }

  async start(): Promise<void> {
    this.#bridge.onmessage = (message) => this.#receive(message);
  }

  async send(message: JSONRPCMessage): Promise<void> {
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
    if (this.#isOver) return;
    this.#isOver = true;
    this.onclose?.();
  }

  #receive(message: unknown): void {
    if (this.#isOver) return;
    if (!isRecord(message)) {
      this.onerror?.(new Error('something that is no message'));
      return;
    }
    // Some hosts leave the version out.
    const said = messageOf({ ...message, jsonrpc: '2.0' });
    if (said !== undefined) this.onmessage?.(said);
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
