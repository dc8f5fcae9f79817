import { openInboxOf, processEnvironment } from '../app.js';
import { PortcullisError } from '../errors.js';
import type { Options, PendingQuestion, QueryInbox, SDKInboxMessage } from './types/index.js';

/** The open questions of one session, by what it told of them. */
export interface HeardInbox extends QueryInbox {
  hear(message: SDKInboxMessage): void;
}

export function createQueryInbox(options: Options): HeardInbox {
  const open = new Map<string, PendingQuestion>();
  return {
    hear(message) {
      const id = message.question_id;
      if (message.state !== 'asked') {
        open.delete(id);
        return;
      }
      open.set(id, {
        id,
        agent: {
          id: message.agent_id,
          path: message.agent_path,
          type: message.subagent_type,
        },
        toolUseId: message.tool_use_id,
        tool: message.tool_name,
        summary: message.summary,
        reason: message.reason,
        expiresAt: Date.parse(message.expires_at),
      });
    },
    list: () => [...open.values()],
    async answer(id, { behavior, scope = 'once', message }) {
      // fail-closed: a session answers for its own agents, not for those of others.
      if (!open.has(id)) {
        throw new PortcullisError('usage', `this session has no open question ${id}`, {
          remedy: 'inbox.list() names those that it has',
        });
      }
      const inbox = openInboxOf(options.env ?? processEnvironment());
      const answered = inbox.answer(id, {
        behavior,
        scope,
        message,
      });
      if (!answered.ok) throw new PortcullisError('session', answered.error);
    },
  };
}
