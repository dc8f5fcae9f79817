import type { GateVerdict } from '../permissions/types.js';
import type { ToolUseBlock } from '../protocol/content.js';
import type { PermissionDenial } from '../protocol/permissions.js';
import type { AnyTool } from '../tools/tool.js';

/** Which calls of a run were refused, and whether the agent found another way. */
export interface CallLedger {
  beginRun(): void;
  verdict(call: ToolUseBlock, tool: AnyTool, verdict: GateVerdict): PermissionDenial | undefined;
  ran(tool: AnyTool): void;
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
  return {
    beginRun() {
      denials = [];
      open = [];
    },
    verdict(call, tool, verdict) {
      if (verdict.kind === 'allowed') return undefined;
      const denial: PermissionDenial = {
        tool_name: tool.name,
        tool_use_id: call.id,
        tool_input: call.input,
        reason: verdict.receipt.reason,
        ...(verdict.suggestion === undefined ? {} : { suggestion: verdict.suggestion }),
      };
      denials.push(denial);
      open.push(tool.name);
      return denial;
    },
    ran(tool) {
      open = open.filter((name) => name !== tool.name);
    },
    denials: () => denials,
    unrecovered: () => open.length,
  };
}
