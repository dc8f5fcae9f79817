import type { GateVerdict } from '../../permissions/gate/types.js';
import type { ToolUseBlock } from '../../protocol/content.js';
import type { PermissionDenial } from '../../protocol/permissions.js';
import type { AnyTool } from '../../tools/tool.js';

/** Which calls of a run were refused, and whether the agent found another way. */
export interface CallLedger {
  beginRun(): void;
  verdict(call: ToolUseBlock, tool: AnyTool, verdict: GateVerdict): PermissionDenial | undefined;
  /** A call of an agent that works for this one was refused. What becomes of it is that one's business. */
  deniedBelow(denial: PermissionDenial): void;
  ran(tool: AnyTool): void;
  /** The run ended with this call put off: it was not refused. */
  deferred(toolUseId: string): void;
  /** How many calls have run since the session was opened. */
  count(): number;
  denials(): readonly PermissionDenial[];
  /**
   * Refusals that were not made up for. A refused call counts as made up for when a later call of
   * the same tool ran in the same run.
   */
  unrecovered(): number;
}

export function createCallLedger(): CallLedger {
  let denials: PermissionDenial[] = [];
  let open: string[] = [];
  let count = 0;
  return {
    beginRun() {
      denials = [];
      open = [];
    },
    verdict(call, tool, verdict) {
      if (verdict.kind === 'allowed') return undefined;
      const denial = denialOf(call, tool, verdict);
      denials.push(denial);
      open.push(tool.name);
      return denial;
    },
    deniedBelow: (denial) => void denials.push(denial),
    count: () => count,
    deferred(toolUseId) {
      const [put] = denials.filter((denial) => denial.tool_use_id === toolUseId);
      denials = denials.filter((denial) => denial !== put);
      const at = put === undefined ? -1 : open.lastIndexOf(put.tool_name);
      if (at !== -1) open = open.toSpliced(at, 1);
    },
    ran(tool) {
      count++;
      open = open.filter((name) => name !== tool.name);
    },
    denials: () => denials,
    unrecovered: () => open.length,
  };
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
