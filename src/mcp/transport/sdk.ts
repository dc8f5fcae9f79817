import type { JSONRPCMessage } from '@modelcontextprotocol/client';
import { isRecord } from '../../lib/own.js';
import { Failed } from '../connection/classify.js';
import type { SdkBridge } from '../connection/deps.js';
import { BoundedTransport } from './bounded-transport.js';
import { messageOf } from './messages.js';

/** The transport to a server in the host's process: the bridge returns the response to each request. */
export class SdkTransport extends BoundedTransport {
  readonly #bridge: SdkBridge;

  constructor(bridge: SdkBridge, monotonic: () => number) {
    super(monotonic);
    this.#bridge = bridge;
  }

  async start(): Promise<void> {
    this.#bridge.onmessage = (message) => this.#take(message);
  }

  protected async transmit(message: JSONRPCMessage): Promise<void> {
    const answer = await this.#carry(message);
    const isRequest = 'method' in message && 'id' in message;
    // Hosts answer notifications with a meaningless acknowledgement.
    if (!isRequest) return;
    if (!isRecord(answer)) throw new Failed({ kind: 'closed' });
    this.#take(answerTo(message.id, answer));
  }

  async #carry(message: JSONRPCMessage): Promise<unknown> {
    try {
      return await this.#bridge.send(message as unknown as Readonly<Record<string, unknown>>);
    } catch {
      throw new Failed({ kind: 'closed' });
    }
  }

  async close(): Promise<void> {
    this.#bridge.onmessage = undefined;
    this.over();
  }

  #take(message: unknown): void {
    // Some hosts omit the version.
    const said = isRecord(message) ? messageOf({ ...message, jsonrpc: '2.0' }) : undefined;
    if (said !== undefined) this.deliver(said);
    else if (!isRecord(message)) this.fail(new Error('something that is no message'));
  }
}

/** The response returned with the request, so its id is optional. fail-closed: another request's id is refused. */
function answerTo(
  id: string | number,
  answer: Readonly<Record<string, unknown>>,
): Readonly<Record<string, unknown>> {
  const given = answer.id ?? id;
  const isIts = given === id || (typeof given === 'string' && Number(given) === id);
  if (isIts && (answer.method ?? null) === null) return { ...answer, id };
  throw new Error('the host answered something else');
}
