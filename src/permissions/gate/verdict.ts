import type { Receipt, TraceStep } from '../../protocol/permissions.js';
import type { GateVerdict, HookContext } from './types.js';
import type { CallView } from './view.js';

interface Ending {
  readonly by: string;
  readonly reason: string;
}

/** A call as far as it has been judged. */
export interface Progress extends HookContext {
  readonly view: CallView;
  readonly trace: readonly TraceStep[];
}

/** The receipt of a decision: how the call was judged, and by what. */
export function receiptOf(
  { view: { call, mode, commandRead }, trace }: Progress,
  { by, reason, decision }: Ending & { readonly decision: Receipt['decision'] },
): Receipt {
  return {
    toolUseId: call.toolUseId,
    tool: call.tool.name,
    agent: call.agent.path,
    decision,
    decidedBy: by,
    reason,
    trace,
    input: call.input,
    mode,
    command: commandRead(),
  };
}

export interface Allowing extends Ending {
  /** Shell code runs as the text that a person wrote or was shown, else in its canonical form. */
  readonly verbatim?: boolean;
}

interface Refusal extends Ending {
  readonly message: string;
  readonly reasonForModel?: string | undefined;
  readonly decision?: 'deny' | 'defer';
  readonly interrupt?: boolean;
  readonly stop?: string | undefined;
  readonly suggestion?: string | undefined;
  readonly unanswered?: true;
}

export function refuse(progress: Progress, refusal: Refusal): GateVerdict {
  const { message, reasonForModel, stop, suggestion, unanswered } = refusal;
  const { interrupt = false, decision = 'deny' } = refusal;
  return {
    kind: 'refused',
    receipt: receiptOf(progress, { ...refusal, decision }),
    message,
    interrupt,
    reasonForModel,
    stop,
    suggestion,
    contexts: progress.contexts,
    deferred: decision === 'defer' ? true : undefined,
    unanswered,
  };
}

/** The texts of hooks about a call and about the input that took its place, each text once. */
export function joinHookContext(first: HookContext, then: HookContext): HookContext {
  const contexts = new Set([...(first.contexts ?? []), ...(then.contexts ?? [])]);
  const forAgent = new Set([first.agentContext ?? [], then.agentContext ?? []].flat());
  return {
    contexts: contexts.size === 0 ? undefined : [...contexts],
    agentContext: forAgent.size === 0 ? undefined : [...forAgent].join('\n'),
  };
}
