import type { GateVerdict } from '../permissions/types.js';
import type { ToolCallResult } from '../protocol/tool-call.js';
import type { CheckedCall, InvokeDeps } from './invocation.js';
import type { ToolContext, ToolOutput } from './tool.js';

export type Allowed = Extract<GateVerdict, { kind: 'allowed' }>;

/** A call that ran, and what it gave. */
export interface RanCall {
  readonly checked: CheckedCall;
  readonly verdict: Allowed;
  readonly context: ToolContext;
  readonly output: ToolOutput;
  readonly ms: number;
}

/** Reviews and bounds the output of a call for the model; `observed`: notes of the call's watch. */
export async function resultOfRun(
  deps: InvokeDeps,
  ran: RanCall,
  observed: readonly string[],
): Promise<ToolCallResult> {
  const { ms, verdict, context } = ran;
  const { call, tool } = ran.checked;
  const { input, judged, contexts: before = [] } = verdict;
  const reviewed = await deps.review?.(
    { call, tool, input, output: ran.output, ms, judged },
    context,
  );
  const output = await deps.bound(reviewed?.output ?? ran.output, context);
  deps.onRan(call, tool, output);
  const { content, structured, isError, finish, followUp } = output;
  const contexts = [...before, ...observed, ...(reviewed?.contexts ?? [])];
  return {
    uuid: deps.uuid(),
    block: {
      type: 'tool_result',
      tool_use_id: call.id,
      content,
      is_error: isError === true ? true : undefined,
    },
    structured,
    finish,
    contexts: contexts.length === 0 ? undefined : contexts,
    followUp: followUp?.map(({ text }) => text),
    stop: reviewed?.stop,
  };
}
