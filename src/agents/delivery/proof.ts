import type { TranscriptEntry } from '../../protocol/transcript.js';
import { INTERRUPTED_RESULT } from '../../session/transcript/messages.js';
import { type Carrier, deliveryId, type RunState } from './records.js';
import { deliveriesIn } from './text.js';

/** What transcripts show to have arrived. */
export interface Proof {
  /** Also of what stands before a compaction, or on a branch that was left: it was told once. */
  holds(run: RunState): boolean;
}

/** By agent; the main one's under `main`. */
export function proofIn(
  sessionId: string,
  transcripts: ReadonlyMap<string, readonly TranscriptEntry[]>,
): Proof {
  const told = new Set<string>();
  const results = new Set<string>();
  for (const [agentId, entries] of transcripts) {
    for (const entry of entries) {
      if (entry.type !== 'user') continue;
      const { content } = entry.message;
      for (const id of deliveriesIn(content)) told.add(id);
      for (const toolUseId of resultsIn(content)) results.add(`${agentId} ${toolUseId}`);
    }
  }
  const carried = ({ agentId, toolUseId }: Carrier): boolean =>
    results.has(`${agentId} ${toolUseId}`);
  return {
    holds: ({ key, carriers }) => told.has(deliveryId(sessionId, key)) || carriers.some(carried),
  };
}

/** Calls with a result of their own: what stands in for one that was lost carries nothing. */
function resultsIn(content: Extract<TranscriptEntry, { type: 'user' }>['message']['content']) {
  if (typeof content === 'string') return [];
  return content.flatMap((block) =>
    block.type === 'tool_result' && block.content !== INTERRUPTED_RESULT ? [block.tool_use_id] : [],
  );
}
