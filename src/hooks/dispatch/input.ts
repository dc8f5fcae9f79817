import { meantNames } from '../../lib/tool-names.js';
import { absoluteInput } from '../../permissions/gate/precheck.js';
import type { GateCall } from '../../permissions/gate/types.js';
import type { AgentRef } from '../../protocol/agent-ref.js';
import type { PermissionMode } from '../../protocol/permissions.js';
import { deepFreeze } from '../registry/captured.js';
import type { HookEventName, HookRequest, Occasion } from '../registry/hook.js';

/** What every hook is told about the session. */
export interface HookFacts {
  readonly sessionId: string;
  /** Of the session, also when a subagent acts. */
  readonly transcriptPath: string;
  /** One per prompt of a person. */
  readonly promptId?: string | undefined;
  /** How hard the model is told to think. */
  readonly effort?: string | undefined;
  /** The agent that the main conversation runs as. */
  readonly mainType?: string | undefined;
  /** The transcript of a subagent. */
  agentTranscriptPath?(agent: AgentRef): string | undefined;
}

/** What all hooks of an occasion share; limits and signals are each one's own. */
export interface SharedRequest extends Omit<HookRequest, 'signal' | 'timeoutMs'> {
  /** What the event is about: `PreToolUse:Bash`. */
  readonly name: string;
}

/** Made once for all hooks of an occasion. Throws where there is no way to write the input as JSON. */
export function requestFor(
  event: HookEventName,
  occasion: Occasion,
  { facts, envFile }: { readonly facts: HookFacts; readonly envFile?: string | undefined },
): SharedRequest {
  const { agent, cwd, mode, fields, toolUseId } = occasion;
  const isSubagent = agent.depth > 0;
  const json = JSON.stringify({
    session_id: facts.sessionId,
    transcript_path: facts.transcriptPath,
    cwd,
    hook_event_name: event,
    prompt_id: facts.promptId,
    permission_mode: mode,
    effort: facts.effort === undefined ? undefined : { level: facts.effort },
    agent_id: isSubagent ? agent.id : undefined,
    agent_type: isSubagent ? agent.type : facts.mainType,
    agent: {
      id: agent.id,
      type: agent.type,
      name: agent.name,
      path: agent.path,
      parent_id: agent.parentId,
      depth: agent.depth,
      spawned_by_tool_use_id: agent.spawnedBy,
      background: agent.background,
      isolation: agent.isolation,
      workspace: agent.workspace,
    },
    agent_transcript_path: isSubagent ? facts.agentTranscriptPath?.(agent) : facts.transcriptPath,
    // A field without a value does not replace a common one.
    ...Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)),
  });
  // A copy, because a callback must not change the call behind the gate's back.
  const input = deepFreeze(JSON.parse(json) as HookRequest['input']);
  const [matched] = occasion.matched;
  const name = matched === undefined ? event : `${event}:${matched}`;
  return { name, input, json, cwd, agent, toolUseId, envFile };
}

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
    signal: call.signal,
    toolUseId,
    fits: more.fits,
  };
}

/** What matchers are compared with. */
export function namesOf({ tool }: Pick<GateCall, 'tool'>): readonly string[] {
  return meantNames(tool);
}
