import type { MetaLine, TranscriptEntry } from '../protocol/transcript.js';
import { isRecord } from '../util/own.js';

/** The head of an agent's transcript in the words that other programs know; undefined for other lines. */
export function agentFacts(
  line: TranscriptEntry | MetaLine,
): Readonly<Record<string, unknown>> | undefined {
  const attachment: unknown = 'attachment' in line ? line.attachment : undefined;
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
