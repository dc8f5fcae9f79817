import { type EnvironmentFacts, environmentText } from '../../context/prompt/reminders.js';
import type { SystemBlock } from '../../model/client.js';
import type { AgentRef } from '../../protocol/agent-ref.js';
import type { AgentDefinition } from '../definitions/definition.js';
import fixed from './child-system.md';
import type { AgentRun } from './run.js';

/** What an agent is, in front of all that it is told: the same bytes for agents of one kind in one place. */
export async function childSystem(
  definition: Pick<AgentDefinition, 'prompt'>,
  facts: EnvironmentFacts,
): Promise<readonly SystemBlock[]> {
  const body = (await definition.prompt()).trim();
  const environment = environmentText(facts);
  const texts = [fixed.trim(), body, environment].filter((text) => text !== '');
  return texts.map((text) => ({ type: 'text', text }));
}

/** More are found with ListAgents. */
const MOST_SIBLINGS = 20;

/**
 * Those with a name whom the same agent has started and who are at work when one starts: it can
 * speak to them. Undefined: nobody. What they do, ListAgents says.
 */
export function siblingsReminder(
  running: readonly Pick<AgentRun, 'ref'>[],
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
