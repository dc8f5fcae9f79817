import type { Message } from '../protocol/content.js';
import type { Conversation } from './types.js';

export function createConversation(initial: readonly Message[] = []): Conversation {
  return new MessageList(initial);
}

/** Append-only but for compaction, which starts a new list. */
class MessageList implements Conversation {
  #messages: Message[];

  constructor(initial: readonly Message[]) {
    this.#messages = [...initial];
  }

  get messages(): readonly Message[] {
    return this.#messages;
  }

  append(message: Message): void {
    const messages = this.#messages;
    const last = messages.at(-1);
    // Two user messages in a row (a prompt after an interrupt) are one, as a resumed session reads them.
    if (last?.role === 'user' && message.role === 'user') {
      messages[messages.length - 1] = {
        role: 'user',
        content: [...last.content, ...message.content],
      };
    } else {
      messages.push(message);
    }
  }

  replace(next: readonly Message[]): void {
    this.#messages = [...next];
  }
}
