import type { LoopEvent } from '../harness.js';
import { textOf } from '../protocol/content.js';

type ToolCallResult = Extract<LoopEvent, { type: 'tool_result' }>['result'];

/** What stands beside a result for programs: what the tool made, or in words what went wrong. */
export function toolUseResult({ block, structured }: ToolCallResult): {
  readonly tool_use_result?: unknown;
} {
  const { content } = block;
  if (block.is_error === true) {
    const text = typeof content === 'string' ? content : textOf(content);
    return { tool_use_result: `Error: ${text}` };
  }
  if (structured !== undefined) return { tool_use_result: structured };
  return typeof content === 'string' ? {} : { tool_use_result: content };
}
