import type { StreamEvent } from '../../model/client.js';
import type { ToolPool } from '../../tools/pool.js';

/** Whether a call that may start a process is being written. */
export function opensProcess(event: StreamEvent, pool: ToolPool): boolean {
  if (event.type !== 'content_block_start' || event.content_block.type !== 'tool_use') return false;
  return pool.resolve(String(event.content_block.name))?.kind === 'execute';
}
