import type { GateVerdict } from '../../permissions/gate/types.js';
import type { AgentRef } from '../../protocol/agent-ref.js';
import type { ToolUseBlock } from '../../protocol/content.js';
import type { PermissionDenial } from '../../protocol/permissions.js';
import type { AnyTool } from '../../tools/tool.js';

/** Records refused calls of a run, and whether the agent found another way. */
export class CallLedger {
  #denials: PermissionDenial[] = [];
  /** Tools whose last call was refused. */
  #open: string[] = [];
  #count = 0;

  beginRun(): void {
    this.#denials = [];
    this.#open = [];
  }

  /** Refused calls of subagents are listed, but only the main agent's count as unrecovered. */
  refused(
    { call, tool, agent }: { call: ToolUseBlock; tool: AnyTool; agent: AgentRef },
    { receipt, suggestion }: Extract<GateVerdict, { kind: 'refused' }>,
  ): PermissionDenial {
    const denial: PermissionDenial = {
      tool_name: tool.name,
      tool_use_id: call.id,
      tool_input: call.input,
      reason: receipt.reason,
      suggestion,
    };
    this.#denials.push(denial);
    if (agent.depth === 0) this.#open.push(tool.name);
    return denial;
  }

  /** The run ended with this call deferred, which is not a refusal. */
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
