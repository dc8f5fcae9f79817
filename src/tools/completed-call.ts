import type { ToolUseBlock } from '../protocol/content.js';
import type { ToolPool } from './pool.js';
import type { AnyTool } from './tool.js';

/** A call and its tool, undefined where the pool does not have it. */
export interface WholeCall {
  readonly call: ToolUseBlock;
  readonly tool: AnyTool | undefined;
}

/**
 * The call that a valid one completes; undefined: it stands for itself. fail-closed: guards judge the
 * whole input, under the names of both tools.
 */
export function completedCall(
  pool: ToolPool,
  tool: AnyTool,
  { call, input }: { readonly call: ToolUseBlock; readonly input: ToolUseBlock['input'] },
): WholeCall | undefined {
  const completed = tool.completes?.(input);
  if (completed === undefined) return undefined;
  const whole = pool.resolve(completed.tool);
  return {
    call: { ...call, name: completed.tool, input: completed.input },
    tool: whole && { ...whole, aliases: [...(whole.aliases ?? []), tool.name] },
  };
}
