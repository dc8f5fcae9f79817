import type { JSONRPCMessage } from '@modelcontextprotocol/client';
import { isNamelessError, messagesIn } from './message.js';

type Id = string | number;

/** What comes over one channel that many requests share: lines of a program, frames of a socket. */
export class Incoming {
  readonly #waiting = new Set<Id>();

  /** To be told of all that is sent. */
  sent(message: JSONRPCMessage): void {
    if (!('method' in message)) return;
    if ('id' in message) this.#waiting.add(message.id);
    else if (message.method === 'notifications/cancelled') {
      const asked = message.params?.requestId;
      if (typeof asked === 'string' || typeof asked === 'number') this.#waiting.delete(asked);
    }
  }

  /** The messages of one text; none for what is no message. */
  read(text: string): readonly JSONRPCMessage[] {
    const messages = messagesIn(text, (value) => this.#named(value));
    for (const message of messages) {
      if (!('method' in message) && message.id !== undefined) this.#answered(message.id);
    }
    return messages;
  }

  /** A server that could not read the id of a request answers without one: it is clear which while one waits. */
  #named(value: unknown): unknown {
    const [only] = this.#waiting;
    if (this.#waiting.size !== 1 || !isNamelessError(value)) return value;
    return { ...value, id: only };
  }

  #answered(id: Id): void {
    // The library takes "7" for 7.
    if (!this.#waiting.delete(id)) this.#waiting.delete(Number(id));
  }
}
