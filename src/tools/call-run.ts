import type { GateVerdict } from '../permissions/types.js';
import type { ToolResultBlock } from '../protocol/content.js';
import type { ToolCallResult } from '../protocol/tool-call.js';
import { type AtOnce, isLater } from '../util/at-once.js';
import type { CheckedCall, InvokeDeps, Reviewed } from './invocation.js';
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

/** From what a call gave to what the model gets: reviewed and bound. `observed`: said by who watched it. */
export function resultOfRun(
  deps: InvokeDeps,
  ran: RanCall,
  observed: readonly string[],
): AtOnce<ToolCallResult> {
  const { output, ms, verdict, context } = ran;
  const { call, tool } = ran.checked;
  const { input, judged } = verdict;
  const reviewing = deps.review?.({ call, tool, input, output, ms, judged }, context);
  return isLater(reviewing)
    ? reviewing.then((reviewed) => boundResult(deps, ran, { observed, reviewed }))
    : boundResult(deps, ran, { observed, reviewed: reviewing });
}

/** What others make of it. */
interface Heard {
  readonly observed: readonly string[];
  readonly reviewed: Reviewed | undefined;
}

function boundResult(deps: InvokeDeps, ran: RanCall, heard: Heard): AtOnce<ToolCallResult> {
  const { observed, reviewed } = heard;
  const bounding = deps.bound(reviewed?.output ?? ran.output, ran.context);
  return isLater(bounding)
    ? bounding.then((output) => resultOf(deps, ran, { observed, reviewed, output }))
    : resultOf(deps, ran, { observed, reviewed, output: bounding });
}

const NONE: readonly string[] = [];

type Growing<T> = { -readonly [Key in keyof T]: T[Key] };

/** Field by field: mostly there is nothing but the output, and to spread what is not there costs. */
function resultOf(
  deps: InvokeDeps,
  { checked, verdict }: RanCall,
  { observed, reviewed, output }: Heard & { readonly output: ToolOutput },
): ToolCallResult {
  const { call, tool } = checked;
  deps.onRan(call, tool, output);
  const { content, structured, isError, finish, followUp } = output;
  const block: Growing<ToolResultBlock> = { type: 'tool_result', tool_use_id: call.id, content };
  if (isError === true) block.is_error = true;
  const result: Growing<ToolCallResult> = { uuid: deps.uuid(), block, structured };
  if (finish !== undefined) result.finish = finish;
  const before = verdict.contexts ?? NONE;
  const after = reviewed?.contexts ?? NONE;
  if (before.length > 0 || observed.length > 0 || after.length > 0) {
    result.contexts = [...before, ...observed, ...after];
  }
  if (followUp !== undefined) result.followUp = followUp.map(({ text }) => text);
  if (reviewed?.stop !== undefined) result.stop = reviewed.stop;
  return result;
}
