import { messageOf } from '../../errors.js';
import { err, ok, type Result } from '../../lib/result.js';
import type { AgentRef } from '../../protocol/agent-ref.js';
import type { HookEventName } from '../../protocol/hook-events.js';
import { deepFreeze } from '../registry/handler.js';
import type { HookRequest, Occasion } from '../registry/hook.js';

/** What every hook is told about the session. */
export interface HookFacts {
  readonly sessionId: string;
  /** Of the session, whoever is acting in it. */
  readonly transcriptPath: string;
  /** One per prompt of a person. */
  readonly promptId?: string | undefined;
  /** How hard the model is told to think. */
  readonly effort?: string | undefined;
  /** The agent that the main conversation runs as. */
  readonly mainType?: string | undefined;
  /** Where the doings of a subagent are written down. */
  agentTranscriptPath?(agent: AgentRef): string | undefined;
}

/** What all hooks of an occasion share; limits and signals are each one's own. */
export type SharedRequest = Omit<HookRequest, 'signal' | 'timeoutMs'>;

/** Made once for all hooks of an occasion. */
export function requestFor(
  event: HookEventName,
  occasion: Occasion,
  { facts, envFile }: { readonly facts: HookFacts; readonly envFile?: string | undefined },
): Result<SharedRequest, string> {
  const { agent, cwd, toolUseId } = occasion;
  try {
    const json = JSON.stringify(inputFor(event, occasion, facts));
    return ok({
      // A copy: who is asked about a call must not be able to change it behind the gate's back.
      input: deepFreeze(JSON.parse(json) as HookRequest['input']),
      json,
      cwd,
      agent,
      toolUseId,
      envFile,
    });
  } catch (thrown) {
    return err(messageOf(thrown));
  }
}

function inputFor(
  event: HookEventName,
  occasion: Occasion,
  facts: HookFacts,
): HookRequest['input'] {
  const { agent, cwd, mode, fields } = occasion;
  const isSubagent = agent.depth > 0;
  return {
    session_id: facts.sessionId,
    transcript_path: facts.transcriptPath,
    cwd,
    hook_event_name: event,
    ...present({
      prompt_id: facts.promptId,
      permission_mode: mode,
      effort: facts.effort === undefined ? undefined : { level: facts.effort },
      agent_id: isSubagent ? agent.id : undefined,
      agent_type: isSubagent ? agent.type : facts.mainType,
    }),
    agent: agentInput(agent),
    ...present({
      agent_transcript_path: isSubagent ? facts.agentTranscriptPath?.(agent) : facts.transcriptPath,
    }),
    ...fields,
  };
}

/** Who is acting, as scripts read it. */
export function agentInput(agent: AgentRef): Readonly<Record<string, unknown>> {
  return present({
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
  });
}

function present(fields: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined));
}
