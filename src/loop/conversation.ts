import type { Message } from '../protocol/content.js';
import type { Conversation } from './types.js';

/** Creates a history that only grows, except when compaction replaces it. */
export function createConversation(initial: readonly Message[] = []): Conversation {
  let messages = [...initial];
  return {
    get messages() {
      return messages;
    },
    append(message) {
      const last = messages.at(-1);
      // Two user messages in a row (a prompt after an interrupt) are merged, as resuming a session does.
      if (last?.role === 'user' && message.role === 'user') {
        messages[messages.length - 1] = {
          role: 'user',
          content: [...last.content, ...message.content],
        };
      } else messages.push(message);
    },
    replace(next) {
      messages = [...next];
    },
  };
}
