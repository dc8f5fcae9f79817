import { instructionsReminder } from '../../context/instructions/reminder.js';
import type { OpenInstructions } from '../../context/instructions/session-instructions.js';
import type { LoadedInstruction } from '../../context/instructions/types.js';
import {
  type EnvironmentFacts,
  environmentText,
  reminder,
} from '../../context/prompt/reminders.js';
import { messageOf } from '../../errors.js';
import type { InputMessage } from '../../loop/types.js';
import type { SystemBlock } from '../../model/client.js';
import type { AgentRef } from '../../protocol/agent-ref.js';
import { SKILL_TOOL } from '../../skills/grants/approval.js';
import type { AgentDefinition } from '../definitions/definition.js';
import { AGENT_TOOL, bareName } from '../definitions/tools.js';
import fixed from './child-system.md';
import type { AgentHost } from './host.js';
import type { AgentRun } from './run.js';

/** The system prompt of an agent, identical for agents of one type in one place so that providers can cache it. */
export async function childSystem(
  definition: Pick<AgentDefinition, 'prompt'>,
  facts: EnvironmentFacts,
): Promise<readonly SystemBlock[]> {
  const body = (await definition.prompt()).trim();
  const environment = environmentText(facts);
  const texts = [fixed.trim(), body, environment].filter((text) => text !== '');
  return texts.map((text) => ({ type: 'text', text }));
}

/** The messages before an agent's task; a resumed agent has seen them already. */
export async function openingMessages(
  host: AgentHost,
  { ref, definition, plan }: AgentRun,
  signal: AbortSignal,
): Promise<readonly InputMessage[]> {
  const { instructions, skills, hooks, mcp, memories, roster } = host;
  const { pool, limits, earlier } = plan;
  instructions.admit(ref.id, { shown: !definition.omitInstructions });
  const notes = await memories.open(ref, definition);
  if (earlier !== undefined) return [];
  const files = await shownFiles(instructions, ref, definition);
  const listedSkills = async (): Promise<string | undefined> => {
    if (pool.resolve(SKILL_TOOL) === undefined) return undefined;
    try {
      return await skills.listing(limits.contextWindow, { quiet: true });
    } catch (thrown) {
      hooks.tell(`the skills could not be listed: ${messageOf(thrown)}`);
      return undefined;
    }
  };
  const maySpeak = pool.resolve('SendMessage') !== undefined;
  const mayStart = definition.tools?.some((entry) => bareName(entry) === AGENT_TOOL) === true;
  const texts = [
    instructionsReminder(files, { occasion: 'start' }),
    notes,
    await listedSkills(),
    // An agent that may start certain types gets their list.
    mayStart ? await host.listing(pool, ref) : undefined,
    mcp?.announcement(pool),
    maySpeak ? siblingsReminder(roster.running(), ref) : undefined,
    ...(await skills.preload(definition.skills, ref, signal)).map(reminder),
  ].filter((text) => text !== undefined);
  return hooks.notes.followUp(texts);
}

/** The instruction files that an agent is shown, without the main agent's own memory. */
export async function shownFiles(
  instructions: OpenInstructions,
  ref: AgentRef,
  { omitInstructions }: AgentDefinition,
): Promise<readonly LoadedInstruction[]> {
  if (omitInstructions) return [];
  const { files } = await instructions.openFor(ref);
  return files.filter(({ scope }) => scope !== 'memory');
}

/** Further ones are available through ListAgents. */
const MOST_SIBLINGS = 20;

/** Running agents with a name and the same parent; ListAgents says what they do. */
function siblingsReminder(
  running: readonly AgentRun[],
  { id, parentId }: AgentRef,
): string | undefined {
  const names = running.flatMap(({ ref }) =>
    ref.id !== id && ref.parentId === parentId && ref.name !== undefined
      ? [`- ${ref.name} (${ref.type})`]
      : [],
  );
  if (names.length === 0) return undefined;
  const more = names.length > MOST_SIBLINGS ? ['- and others: see ListAgents'] : [];
  const lines = [...names.slice(0, MOST_SIBLINGS), ...more];
  return reminder(
    `These agents are at work beside you. SendMessage reaches them by name:\n\n${lines.join('\n')}`,
  );
}
