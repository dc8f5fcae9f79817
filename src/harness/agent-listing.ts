import { agentsReminder } from '../agents/agent-context.js';
import type { AgentDefinition } from '../agents/definition.js';
import type { AgentBook } from '../agents/definition-types.js';
import { agentNotice } from '../agents/definitions.js';
import type { TypeRules } from '../agents/type-rules.js';
import { reminder } from '../context/reminders.js';
import { messageOf } from '../errors.js';
import { type AgentRef, MAIN_AGENT } from '../protocol/agent-ref.js';

export interface AgentListingParts {
  readonly book: AgentBook;
  readonly types: Pick<TypeRules, 'allowed' | 'leavesAll'>;
  /** The kind that copies the one who starts it, where that is offered. */
  forks(): AgentDefinition | undefined;
  /** What people should know. */
  tell(text: string): void;
}

/** What the model is told of the kinds of agents. */
export interface AgentListings {
  /** Of those that this agent may start; undefined when there is none. */
  of(agent: AgentRef): Promise<string | undefined>;
  /** Notes for the next start what the main agent was told. */
  settle(): Promise<void>;
}

export function openAgentListings(parts: AgentListingParts): AgentListings {
  const { book, types } = parts;
  const keyOf = (): string => JSON.stringify([parts.forks() !== undefined]);
  /** What the main agent was told at the start, and the next start does not know yet. */
  let news: string | undefined;
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

  async function made(agent: AgentRef): Promise<string> {
    const kinds = [...(await book.list()), ...[parts.forks() ?? []].flat()];
    tellOfBroken();
    return agentsReminder(await types.allowed(agent, kinds)) ?? '';
  }

  async function textFor(agent: AgentRef): Promise<string> {
    // fail-closed: rules about single kinds are held against each kind that there is now.
    const mayBeKnown = agent.path === MAIN_AGENT.path && types.leavesAll(agent);
    const known = mayBeKnown ? await book.recallListed(keyOf) : undefined;
    if (known !== undefined) return known;
    const text = await made(agent);
    if (mayBeKnown) news = text;
    return text;
  }

  return {
    async of(agent) {
      const text = await textFor(agent);
      return text === '' ? undefined : reminder(text);
    },
    async settle() {
      if (news === undefined) return;
      const text = news;
      news = undefined;
      await book.noteListed(keyOf, text);
    },
  };
}
