import type { StreamEvent } from '../model/client.js';
import type { GateVerdict } from '../permissions/types.js';
import type { ToolPool } from '../tools/pool.js';
import type { AnyTool } from '../tools/tool.js';

/** Only what may change something has to be on record before it happens; who sees to that itself does so in time. */
export function mayBeNotedLater(tool: AnyTool, verdict: GateVerdict): boolean {
  return verdict.kind === 'allowed' && (tool.kind === 'read' || tool.startsOnRecord === true);
}

/** Whether a call that may start a process is being written. */
export function opensProcess(event: StreamEvent, pool: ToolPool): boolean {
  if (event.type !== 'content_block_start' || event.content_block.type !== 'tool_use') return false;
  return pool.resolve(String(event.content_block.name))?.kind === 'execute';
}
