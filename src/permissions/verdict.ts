import type { Receipt, TraceStep } from '../protocol/permissions.js';
import type { GateVerdict } from './types.js';
import type { CallView } from './view.js';

export interface Ending {
  readonly by: string;
  readonly reason: string;
}

/** Everything about how a call was decided, for whoever asks later. */
export function receiptOf(
  { call, mode, commandRead }: CallView,
  trace: readonly TraceStep[],
  { by, reason, decision }: Ending & { readonly decision: Receipt['decision'] },
): Receipt {
  const command = commandRead();
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
    ...(command === undefined ? {} : { command }),
  };
}

export interface Refusal extends Ending {
  readonly message: string;
  readonly decision?: 'deny' | 'defer';
  readonly interrupt?: boolean;
  readonly stop?: string | undefined;
  readonly suggestion?: string | undefined;
}

export function refuse(view: CallView, trace: readonly TraceStep[], refusal: Refusal): GateVerdict {
  const { message, interrupt = false, suggestion, stop, decision = 'deny' } = refusal;
  return {
    kind: 'refused',
    receipt: receiptOf(view, trace, { ...refusal, decision }),
    message,
    interrupt,
    ...(stop === undefined ? {} : { stop }),
    ...(suggestion === undefined ? {} : { suggestion }),
  };
}
