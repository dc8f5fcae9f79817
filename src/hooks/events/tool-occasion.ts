import { absoluteInput } from '../../permissions/gate/precheck.js';
import type { GateCall } from '../../permissions/gate/types.js';
import type { PermissionMode } from '../../protocol/permissions.js';
import type { HookEventName, Occasion } from '../registry/hook.js';

type Fields = Occasion['fields'];

/** A tool call and the mode that it is judged in; a `CallView` is one. */
export interface AboutCall<Call = Omit<GateCall, 'subject'>> {
  readonly call: Call;
  readonly mode: PermissionMode;
}

/** Whether an `if` rule fits the call that is asked about. */
export type FitsRule = (rule: string) => Promise<boolean>;

/** What hooks of an event about a tool call are told. */
export function toolOccasion(
  event: HookEventName,
  { call, mode }: AboutCall,
  more: {
    /** The event's fields besides those of the call. */
    readonly fields?: Fields;
    readonly fits?: FitsRule;
    /** Instead of the call's own: where the question may be withdrawn before the call is. */
    readonly signal?: AbortSignal;
  } = {},
): Occasion {
  const { tool, agent, workspace, toolUseId } = call;
  return {
    agent,
    cwd: workspace.cwd,
    mode,
    matched: namesOf(call),
    fields: {
      tool_name: tool.name,
      tool_input: absoluteInput(call),
      mcp_server:
        tool.origin === undefined
          ? undefined
          : { name: tool.origin.server, source: tool.origin.source },
      // Questions of this event are about what may be granted, as scripts know it: without the id.
      ...(event === 'PermissionRequest' ? {} : { tool_use_id: toolUseId }),
      ...more.fields,
    },
    signal: more.signal ?? call.signal,
    toolUseId,
    fits: more.fits,
  };
}

/** What matchers are compared with. */
export function namesOf({ tool }: Pick<GateCall, 'tool'>): readonly string[] {
  return [tool.name, ...(tool.aliases ?? [])];
}
