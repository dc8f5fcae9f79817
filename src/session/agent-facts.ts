import { isRecord } from '../lib/own.js';
import type { NewLine } from './transcript/store.js';

/** The head of an agent's transcript in the words that other programs know; undefined for other lines. */
export function agentFacts(line: NewLine): Readonly<Record<string, unknown>> | undefined {
  const attachment: unknown = 'attachment' in line ? line.attachment : undefined;
  if (!isRecord(attachment) || attachment.type !== 'agent_started') return undefined;
  const { agent, description } = attachment;
  if (!isRecord(agent)) return undefined;
  return {
    agentType: agent.type,
    description,
    toolUseId: typeof agent.spawnedBy === 'string' ? agent.spawnedBy : undefined,
    parentAgentId: agent.depth === 1 ? undefined : agent.parentId,
    spawnDepth: agent.depth,
  };
}
