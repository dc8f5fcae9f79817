import type { Receipt, TraceStep } from '../protocol/permissions.js';
import type { Asides, GateVerdict } from './types.js';
import type { CallView } from './view.js';

export interface Ending {
  readonly by: string;
  readonly reason: string;
}

/** A call as far as it has been judged. */
export interface Progress extends Asides {
  readonly view: CallView;
  readonly trace: readonly TraceStep[];
}

/** Everything about how a call was decided, for whoever asks later. */
export function receiptOf(
  { view: { call, mode, commandRead }, trace }: Progress,
  { by, reason, decision }: Ending & { readonly decision: Receipt['decision'] },
): Receipt {
  const receipt: Receipt = {
    toolUseId: call.toolUseId,
    tool: call.tool.name,
    agent: call.agent.path,
    decision,
    decidedBy: by,
    reason,
    trace,
    input: call.input,
    mode,
  };
  const command = commandRead();
  return command === undefined ? receipt : { ...receipt, command };
}

export interface Refusal extends Ending {
  readonly message: string;
  readonly reasonForModel?: string | undefined;
  readonly decision?: 'deny' | 'defer';
  readonly interrupt?: boolean;
  readonly stop?: string | undefined;
  readonly suggestion?: string | undefined;
  readonly unanswered?: true;
}

export function refuse(progress: Progress, refusal: Refusal): GateVerdict {
  const { message, interrupt = false, suggestion, stop, decision = 'deny', unanswered } = refusal;
  const { contexts } = progress;
  const { reasonForModel } = refusal;
  return {
    kind: 'refused',
    receipt: receiptOf(progress, { ...refusal, decision }),
    message,
    interrupt,
    ...(reasonForModel === undefined ? {} : { reasonForModel }),
    ...(stop === undefined ? {} : { stop }),
    ...(suggestion === undefined ? {} : { suggestion }),
    ...(contexts === undefined ? {} : { contexts }),
    ...(decision === 'defer' ? { deferred: true } : {}),
    ...(unanswered === undefined ? {} : { unanswered }),
  };
}

export const NO_ASIDES: Asides = Object.freeze({});

/** What was said about a call and about the input that took its place; the same words once. */
export function joinAsides(first: Asides, then: Asides): Asides {
  if (isSilent(first) && isSilent(then)) return NO_ASIDES;
  const contexts = unique([...(first.contexts ?? []), ...(then.contexts ?? [])]);
  const forAgent = unique([first.agentContext, then.agentContext]).filter(
    (text) => text !== undefined,
  );
  return {
    ...(contexts.length === 0 ? {} : { contexts }),
    ...(forAgent.length === 0 ? {} : { agentContext: forAgent.join('\n') }),
  };
}

function isSilent({ contexts, agentContext }: Asides): boolean {
  return contexts === undefined && agentContext === undefined;
}

function unique<T>(list: readonly T[]): readonly T[] {
  return [...new Set(list)];
}
