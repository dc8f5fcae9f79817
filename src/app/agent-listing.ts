import type { AgentDefinition } from '../agents/definitions/definition.js';
import { agentNotice } from '../agents/definitions/definitions.js';
import type { AgentBook } from '../agents/definitions/types.js';
import type { TypeRules } from '../agents/limits/type-rules.js';
import { agentsReminder } from '../agents/runtime/agent-context.js';
import { reminder } from '../context/prompt/reminders.js';
import { messageOf } from '../errors.js';
import type { AgentRef } from '../protocol/agent-ref.js';

export interface AgentListingParts {
  readonly book: AgentBook;
  readonly types: Pick<TypeRules, 'allowed'>;
  /** The kind that copies the one who starts it, where that is offered. */
  forks(): AgentDefinition | undefined;
  /** What people should know. */
  tell(text: string): void;
}

/** What the model is told of the kinds of agents. */
export interface AgentListings {
  /** Of those that this agent may start; undefined when there is none. */
  of(agent: AgentRef): Promise<string | undefined>;
}

export function openAgentListings(parts: AgentListingParts): AgentListings {
  const { book, types } = parts;
  let isTold = false;

  /** Once, of definitions that are not in force. People can wait: the first request goes out before it. */
  function tellOfBroken(): void {
    if (isTold) return;
    isTold = true;
    setImmediate(async () => {
      const notice = await book.problems().then(agentNotice, messageOf);
      if (notice !== undefined) parts.tell(notice);
    });
  }

  return {
    async of(agent) {
      const kinds = [...(await book.list()), ...[parts.forks() ?? []].flat()];
      tellOfBroken();
      const text = agentsReminder(await types.allowed(agent, kinds)) ?? '';
      return text === '' ? undefined : reminder(text);
    },
  };
}
