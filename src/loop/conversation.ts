import type { Message } from '../protocol/content.js';
import type { Conversation } from './types.js';

/** Append-only but for compaction, which starts a new list. */
export function createConversation(initial: readonly Message[] = []): Conversation {
  let messages: Message[] = [...initial];
  return {
    get messages() {
      return messages;
    },
    append(message) {
      messages.push(message);
    },
    replace(next) {
      messages = [...next];
    },
  };
}
