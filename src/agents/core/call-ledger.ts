import type { GateVerdict } from '../../permissions/gate/types.js';
import type { ToolUseBlock } from '../../protocol/content.js';
import type { PermissionDenial } from '../../protocol/permissions.js';
import type { AnyTool } from '../../tools/tool.js';

/** Which calls of a run were refused, and whether the agent found another way. */
export class CallLedger {
  #denials: PermissionDenial[] = [];
  /** Tools whose last call was refused. */
  #open: string[] = [];
  #count = 0;

  beginRun(): void {
    this.#denials = [];
    this.#open = [];
  }

  verdict(call: ToolUseBlock, tool: AnyTool, verdict: GateVerdict): PermissionDenial | undefined {
    if (verdict.kind === 'allowed') return undefined;
    const denial = denialOf(call, tool, verdict);
    this.#denials.push(denial);
    this.#open.push(tool.name);
    return denial;
  }

  /** A call of an agent that works for this one was refused. What becomes of it is that one's business. */
  deniedBelow(denial: PermissionDenial): void {
    this.#denials.push(denial);
  }

  /** The run ended with this call put off: it was not refused. */
  deferred(toolUseId: string): void {
    const put = this.#denials.find((denial) => denial.tool_use_id === toolUseId);
    this.#denials = this.#denials.filter((denial) => denial !== put);
    const at = put === undefined ? -1 : this.#open.lastIndexOf(put.tool_name);
    if (at !== -1) this.#open.splice(at, 1);
  }

  ran(tool: AnyTool): void {
    this.#count++;
    this.#open = this.#open.filter((name) => name !== tool.name);
  }

  /** How many calls have run since the session was opened. */
  count(): number {
    return this.#count;
  }

  denials(): readonly PermissionDenial[] {
    return this.#denials;
  }

  /** Refusals that no later call of the same tool in the same run made up for. */
  unrecovered(): number {
    return this.#open.length;
  }
}

/** How a call that was refused is told. */
export function denialOf(
  call: ToolUseBlock,
  tool: AnyTool,
  { receipt, suggestion }: Extract<GateVerdict, { kind: 'refused' }>,
): PermissionDenial {
  return {
    tool_name: tool.name,
    tool_use_id: call.id,
    tool_input: call.input,
    reason: receipt.reason,
    suggestion,
  };
}
