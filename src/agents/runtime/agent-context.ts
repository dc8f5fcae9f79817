import { type EnvironmentFacts, environmentText } from '../../context/prompt/reminders.js';
import type { SystemBlock } from '../../model/client.js';
import type { AgentRef } from '../../protocol/agent-ref.js';
import type { AgentDefinition } from '../definitions/definition.js';
import { agentListing } from '../definitions/listing.js';
import fixed from './child-system.md';
import type { AgentTask } from './task.js';

/** What an agent is, in front of all that it is told: the same bytes for agents of one kind in one place. */
export async function childSystem(
  definition: Pick<AgentDefinition, 'prompt'>,
  facts: EnvironmentFacts,
): Promise<readonly SystemBlock[]> {
  const body = (await definition.prompt()).trim();
  const environment = environmentText(facts);
  const known = told.get(definition);
  if (known?.body === body && known.environment === environment) return known.system;
  const texts = [fixed.trim(), body, environment].filter((text) => text !== '');
  const system = texts.map((text) => ({ type: 'text' as const, text }));
  told.set(definition, { body, environment, system });
  return system;
}

/** What agents of a kind were told last: the same blocks need not be measured or compared again. */
const told = new WeakMap<
  Pick<AgentDefinition, 'prompt'>,
  { readonly body: string; readonly environment: string; readonly system: readonly SystemBlock[] }
>();

/** The kinds of agents that a model may start; undefined when there is none. */
export function agentsReminder(definitions: readonly AgentDefinition[]): string | undefined {
  const { text } = agentListing(definitions);
  return text === ''
    ? undefined
    : `These types of agents can be started with the Agent tool:\n\n${text}`;
}

/** More are found with ListAgents. */
const MOST_SIBLINGS = 20;

/**
 * Those with a name whom the same agent has started and who are at work when one starts: it can
 * speak to them. Undefined: nobody. What they do, ListAgents says.
 */
export function siblingsReminder(
  running: readonly Pick<AgentTask, 'ref'>[],
  { id, parentId }: Pick<AgentRef, 'id' | 'parentId'>,
): string | undefined {
  const names = running.flatMap(({ ref }) =>
    ref.id !== id && ref.parentId === parentId && ref.name !== undefined
      ? [`- ${ref.name} (${ref.type})`]
      : [],
  );
  if (names.length === 0) return undefined;
  const more = names.length > MOST_SIBLINGS ? ['- and others: see ListAgents'] : [];
  const lines = [...names.slice(0, MOST_SIBLINGS), ...more];
  return `These agents are at work beside you. SendMessage reaches them by name:\n\n${lines.join('\n')}`;
}
