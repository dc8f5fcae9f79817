import { reminder } from '../../context/prompt/reminders.js';
import { messageOf } from '../../errors.js';
import type { AgentRef } from '../../protocol/agent-ref.js';
import type { TypeRules } from '../limits/type-rules.js';
import type { AgentDefinition } from './definition.js';
import { type AgentBook, agentNotice } from './definitions.js';
import { agentListing } from './listing.js';

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

/** The kinds of agents that a model may start; undefined when there is none. */
function agentsReminder(definitions: readonly AgentDefinition[]): string | undefined {
  const { text } = agentListing(definitions);
  return text === ''
    ? undefined
    : `These types of agents can be started with the Agent tool:\n\n${text}`;
}
