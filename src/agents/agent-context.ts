import { type EnvironmentFacts, environmentText } from '../context/reminders.js';
import type { SystemBlock } from '../model/client.js';
import fixed from './child-system.md';
import type { AgentDefinition } from './definition.js';
import { agentListing } from './definition-listing.js';

/** What an agent is, in front of all that it is told: the same bytes for agents of one kind in one place. */
export async function childSystem(
  definition: Pick<AgentDefinition, 'prompt'>,
  facts: EnvironmentFacts,
): Promise<readonly SystemBlock[]> {
  const body = (await definition.prompt()).trim();
  const texts = [fixed.trim(), body, environmentText(facts)];
  return texts.filter((text) => text !== '').map((text) => ({ type: 'text', text }));
}

/** The kinds of agents that a model may start; undefined when there is none. */
export function agentsReminder(definitions: readonly AgentDefinition[]): string | undefined {
  const { text } = agentListing(definitions);
  return text === ''
    ? undefined
    : `These types of agents can be started with the Agent tool:\n\n${text}`;
}
