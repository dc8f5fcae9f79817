import { isRecord } from '../util/own.js';
import { LinkedEntry } from './linked-entry.js';
import type { NewLine } from './store.js';

/** The head of an agent's transcript in the words that other programs know; undefined for other lines. */
export function agentFacts(line: NewLine): Readonly<Record<string, unknown>> | undefined {
  const fields = line instanceof LinkedEntry ? line.own : line;
  const attachment: unknown = 'attachment' in fields ? fields.attachment : undefined;
  if (!isRecord(attachment) || attachment.type !== 'agent_started') return undefined;
  const { agent, description } = attachment;
  if (!isRecord(agent)) return undefined;
  return {
    agentType: agent.type,
    description,
    ...(typeof agent.spawnedBy === 'string' ? { toolUseId: agent.spawnedBy } : {}),
    ...(agent.depth === 1 ? {} : { parentAgentId: agent.parentId }),
    spawnDepth: agent.depth,
  };
}
