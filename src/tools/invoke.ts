import { messageOf } from '../errors.js';
import type { GateCall, GateVerdict } from '../permissions/types.js';
import type { ToolResultBlock, ToolUseBlock } from '../protocol/content.js';
import type { ToolCallResult } from '../protocol/tool-call.js';
import { isLater } from '../util/at-once.js';
import { extended } from '../util/extended.js';
import { seal } from '../util/sealed.js';
import { head } from '../util/truncate.js';
import { describeMalformed, describeProblems, type InvalidInput } from './invalid-input.js';
import type { CheckedCall, Invoke, InvokeDeps } from './invocation.js';
import type { ToolPool } from './pool.js';
import type { AnyTool, ToolOutput, ValidationProblem } from './tool.js';

/**
 * The one way in: name → input → gate → run → bound. No other code calls `Tool.run`; the
 * architecture test checks it.
 */
export function createInvoke(deps: InvokeDeps): Invoke {
  return async (call, malformed, signal) => {
    const tool = deps.pool.resolve(call.name);
    if (tool === undefined) {
      const why = deps.elsewhere?.(call.name) ?? unknownTool(deps.pool, call.name);
      return failure(deps, call, why);
    }
    try {
      const fixed = seal(tool.fromModel?.(call.input) ?? call.input);
      // fail-closed: what may change after it was judged is not judged at all.
      if (!fixed.ok)
        return failure(deps, call, `${tool.name}: the input is not plain: ${fixed.error}.`);
      const input = fixed.value;
      const checking = malformed === undefined ? tool.validate(input) : NO_PROBLEMS;
      const problems = isLater(checking) ? await checking : checking;
      if (malformed !== undefined || problems.length > 0) {
        const invalid = { call, tool: tool.name, malformed, problems };
        return failure(deps, call, await inputProblem(deps, invalid, signal));
      }
      return await throughGate(deps, { call, tool, input }, signal);
    } catch (thrown) {
      return failure(deps, call, `${tool.name} failed: ${messageOf(thrown)}`);
    }
  };
}

async function throughGate(
  deps: InvokeDeps,
  { call, tool, input }: CheckedCall,
  signal: AbortSignal,
): Promise<ToolCallResult> {
  const asked: GateCall = {
    toolUseId: call.id,
    tool,
    input,
    subject: tool.subject(input, deps.workspace),
    agent: deps.agent,
    workspace: deps.workspace,
    signal,
  };
  const judging = deps.gate(
    deps.unattended === true ? extended(asked, { unattended: true }) : asked,
  );
  const verdict = isLater(judging) ? await judging : judging;
  deps.onVerdict(call, tool, verdict);
  if (verdict.kind === 'refused') {
    return await refusedResult(deps, { checked: { call, tool, input }, verdict }, signal);
  }
  const { agentContext, judged } = verdict;
  const plain = deps.contextFor(call, signal, judged);
  const context = agentContext === undefined ? plain : extended(plain, { agentContext });
  const watching = deps.watch?.({ call, tool, input: verdict.input, verdict }, context);
  const watch = isLater(watching) ? await watching : watching;
  const hold = watch?.hold;
  // fail-closed: a tool that does not say that it waits is not run before it may change something.
  if (hold !== undefined && tool.startsHeld !== true) await hold();
  const started = deps.monotonic();
  verdict.permit.spend(call.id, verdict.input);
  const running = tool.run(
    verdict.input,
    hold === undefined ? context : extended(context, { hold }),
    verdict.permit,
  );
  let raw: ToolOutput;
  try {
    raw = await running;
  } catch (thrown) {
    raw = thrownOutput(tool, thrown);
  }
  const ms = deps.monotonic() - started;
  const observed = watch === undefined ? NONE : await watch.ended(raw);
  const finished = { call, tool, input: verdict.input, output: raw, ms, judged };
  const reviewing = deps.review?.(finished, context);
  const reviewed = isLater(reviewing) ? await reviewing : reviewing;
  const bounding = deps.bound(reviewed?.output ?? raw, context);
  const output = isLater(bounding) ? await bounding : bounding;
  deps.onRan(call, tool, output);
  const contexts = [verdict.contexts ?? NONE, observed, reviewed?.contexts ?? NONE];
  return resultOf(deps.uuid(), call, output, { contexts, stop: reviewed?.stop });
}

const NONE: readonly string[] = [];
const NO_PROBLEMS: readonly ValidationProblem[] = [];

async function refusedResult(
  deps: InvokeDeps,
  {
    checked,
    verdict,
  }: { checked: CheckedCall; verdict: Extract<GateVerdict, { kind: 'refused' }> },
  signal: AbortSignal,
): Promise<ToolCallResult> {
  const { interrupt, stop, deferred, contexts = NONE } = verdict;
  const hint = await deps.onRefused?.(checked, verdict, signal);
  const message = hint === undefined ? verdict.message : `${verdict.message}\n${hint}`;
  return {
    ...failure(deps, checked.call, message),
    interrupt,
    ...(stop === undefined ? {} : { stop }),
    ...(contexts.length === 0 ? {} : { contexts }),
    ...(deferred === true ? { deferred } : {}),
  };
}

type Growing<T> = { -readonly [Key in keyof T]: T[Key] };

/** Field by field: mostly there is nothing but the output, and to spread what is not there costs. */
function resultOf(
  uuid: string,
  call: ToolUseBlock,
  output: ToolOutput,
  said: { readonly contexts: readonly (readonly string[])[]; readonly stop: string | undefined },
): ToolCallResult {
  const { content, structured, isError, finish, followUp } = output;
  const block: Growing<ToolResultBlock> = { type: 'tool_result', tool_use_id: call.id, content };
  if (isError === true) block.is_error = true;
  const result: Growing<ToolCallResult> = { uuid, block, structured };
  if (finish !== undefined) result.finish = finish;
  const contexts = said.contexts.flat();
  if (contexts.length > 0) result.contexts = contexts;
  if (followUp !== undefined) result.followUp = followUp.map(({ text }) => text);
  if (said.stop !== undefined) result.stop = said.stop;
  return result;
}

function thrownOutput(tool: AnyTool, thrown: unknown): ToolOutput {
  const text = `${tool.name} failed: ${messageOf(thrown)}`;
  return { content: text, isError: true, structured: `Error: ${text}` };
}

async function inputProblem(
  deps: InvokeDeps,
  invalid: InvalidInput,
  signal: AbortSignal,
): Promise<string> {
  const { tool, malformed, problems } = invalid;
  const text =
    malformed === undefined ? describeProblems(tool, problems) : describeMalformed(tool, malformed);
  const note = await deps.onInvalidInput(invalid, signal);
  return note === undefined ? text : `${text}\n${note}`;
}

/** A name comes from the model and may be of any length. */
const SHOWN_NAME = 200;

function unknownTool(pool: ToolPool, name: string): string {
  const near = pool.nearestName(name);
  const hint =
    near === undefined
      ? `Known tools: ${pool.tools.map((tool) => tool.name).join(', ')}.`
      : `Did you mean ${near}?`;
  return `No such tool available: ${head(name, SHOWN_NAME)}. ${hint}`;
}

function failure(deps: InvokeDeps, call: ToolUseBlock, message: string): ToolCallResult {
  return {
    uuid: deps.uuid(),
    block: { type: 'tool_result', tool_use_id: call.id, content: message, is_error: true },
    structured: `Error: ${message}`,
  };
}
