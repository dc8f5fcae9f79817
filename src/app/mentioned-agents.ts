import type { FileMention } from '../context/prompt/file-mentions.js';
import { reminder } from '../context/prompt/reminders.js';
import { visible } from '../lib/visible.js';
import type { UserBlock } from '../protocol/content.js';
import type { ToolPool } from '../tools/pool.js';
import type { OpenAgents } from './agents.js';

export interface AskedAgents {
  readonly blocks: readonly UserBlock[];
  /** What names no agent. */
  readonly others: readonly FileMention[];
}

/** Agents that a prompt asks for, as `@agent-name` or `@"name (agent)"`. The model is told to start them. */
export async function askedAgents(
  mentions: readonly FileMention[],
  {
    agents,
    pool,
    tell,
  }: {
    readonly agents: Pick<OpenAgents, 'startable'> | undefined;
    readonly pool: Pick<ToolPool, 'resolve'>;
    tell(text: string): void;
  },
): Promise<AskedAgents> {
  const texts = new Set<string>();
  const others: FileMention[] = [];
  for (const mention of mentions) {
    const name = agentIn(mention);
    const kind = name === undefined ? undefined : await agents?.startable(name, pool);
    if (kind === undefined) others.push(mention);
    else if (kind.ok) {
      const type = visible(kind.value.name);
      texts.add(
        `The user asks for the agent ${type}. Start it with the Agent tool (subagent_type "${type}") and tell it all that it has to know.`,
      );
    } else {
      const failure = `${visible(mention.written)} cannot be started: ${kind.error}`;
      tell(failure);
      texts.add(failure);
    }
  }
  return { blocks: [...texts].map((text) => ({ type: 'text', text: reminder(text) })), others };
}

function agentIn({ meanings, isQuoted }: FileMention): string | undefined {
  const form = isQuoted ? /^(.+) \(agent\)$/ : /^agent-([\p{L}\p{N}_.:-]*[\p{L}\p{N}_-])$/u;
  return meanings.map(({ name }) => form.exec(name)?.[1]).find((name) => name !== undefined);
}
