import { messageOf } from '../errors.js';
import { freezeJson } from '../lib/frozen-json.js';
import { head } from '../lib/text/truncate.js';
import { spendPermit } from '../permissions/gate/permit.js';
import type { GateVerdict } from '../permissions/gate/types.js';
import type { ToolUseBlock } from '../protocol/content.js';
import type { MalformedInput, ToolCallResult } from '../protocol/tool-call.js';
import { completedCall } from './completed-call.js';
import { describeMalformed, describeProblems } from './invalid-input.js';
import type { CheckedCall, Invoke, InvokeDeps } from './invocation.js';
import type { AnyTool, ToolContext, ToolOutput } from './tool.js';

/**
 * The one way in: name → input → gate → run → bound. No other code calls `Tool.run`; the
 * architecture test checks it.
 */
export function createInvoke(deps: InvokeDeps): Invoke {
  return async (call, malformed, signal) => {
    const tool = deps.pool.resolve(call.name);
    if (tool === undefined) return unknownTool(deps, call);
    try {
      return await invokeTool(deps, { call, tool, malformed }, signal);
    } catch (thrown) {
      return failure(deps, call, thrownText(tool, thrown));
    }
  };
}

type Allowed = Extract<GateVerdict, { kind: 'allowed' }>;

interface NamedCall {
  readonly call: ToolUseBlock;
  readonly tool: AnyTool;
  readonly malformed: MalformedInput | undefined;
}

async function invokeTool(
  deps: InvokeDeps,
  { call, tool, malformed }: NamedCall,
  signal: AbortSignal,
): Promise<ToolCallResult> {
  const frozen = freezeJson(tool.fromModel?.(call.input) ?? call.input);
  // fail-closed: what may change after it was judged is not judged at all.
  if (!frozen.ok) {
    return failure(deps, call, `${tool.name}: the input is not plain: ${frozen.error}.`);
  }
  const input = frozen.value;
  const problems = malformed === undefined ? await tool.validate(input) : [];
  if (malformed !== undefined || problems.length > 0) {
    const text =
      malformed === undefined
        ? describeProblems(tool.name, problems)
        : describeMalformed(tool.name, malformed);
    const note = await deps.onInvalidInput({ call, tool: tool.name, malformed, problems }, signal);
    return failure(deps, call, note === undefined ? text : `${text}\n${note}`);
  }
  const whole = completedCall(deps.pool, tool, { call, input });
  if (whole !== undefined) {
    return whole.tool === undefined
      ? unknownTool(deps, whole.call)
      : await invokeTool(deps, { ...whole, tool: whole.tool, malformed: undefined }, signal);
  }
  const { agent, workspace, unattended, typed } = deps;
  const subject = tool.subject(input, workspace);
  const toolUseId = call.id;
  const verdict = await deps.gate({
    toolUseId,
    tool,
    input,
    subject,
    agent,
    workspace,
    signal,
    unattended,
    typed,
  });
  // The decision is on record before anything runs.
  deps.onVerdict(call, tool, verdict);
  const checked = { call, tool, input };
  return verdict.kind === 'refused'
    ? await refusedResult(deps, { checked, verdict }, signal)
    : await runAllowed(deps, { checked, verdict }, signal);
}

async function runAllowed(
  deps: InvokeDeps,
  { checked, verdict }: { readonly checked: CheckedCall; readonly verdict: Allowed },
  signal: AbortSignal,
): Promise<ToolCallResult> {
  const { call, tool } = checked;
  const { agentContext, judged, input, permit } = verdict;
  // fail-closed: a call that cannot be announced does not run.
  const idempotencyKey = await deps.beforeRun?.({ call, tool, input, verdict });
  const own = deps.contextFor(call, signal, judged);
  const context: ToolContext = { ...own, agentContext, idempotencyKey };
  const watch = await deps.watch?.({ call, tool, input, verdict }, context);
  const started = deps.monotonic();
  spendPermit(permit, call.id, input);
  let output: ToolOutput;
  try {
    output = await tool.run(input, context, permit);
  } catch (thrown) {
    const text = thrownText(tool, thrown);
    output = { content: text, isError: true, structured: `Error: ${text}` };
  }
  const ms = deps.monotonic() - started;
  const observed = (await watch?.ended(output)) ?? [];
  const reviewed = await deps.review?.({ call, tool, input, output, ms, judged }, context);
  const bounded = await deps.bound(reviewed?.output ?? output, context);
  deps.onRan(call, tool, bounded);
  const { content, structured, isError, finish, followUp } = bounded;
  const contexts = [...(verdict.contexts ?? []), ...observed, ...(reviewed?.contexts ?? [])];
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

/** Of a call that the gate has refused. */
async function refusedResult(
  deps: InvokeDeps,
  {
    checked,
    verdict,
  }: { checked: CheckedCall; verdict: Extract<GateVerdict, { kind: 'refused' }> },
  signal: AbortSignal,
): Promise<ToolCallResult> {
  const { interrupt, stop, deferred, contexts = [] } = verdict;
  const hint = await deps.onRefused?.(checked, verdict, signal);
  const message = hint === undefined ? verdict.message : `${verdict.message}\n${hint}`;
  return {
    ...failure(deps, checked.call, message),
    interrupt,
    stop,
    ...(contexts.length === 0 ? {} : { contexts }),
    ...(deferred === true ? { deferred } : {}),
  };
}

function thrownText(tool: AnyTool, thrown: unknown): string {
  return `${tool.name} failed: ${messageOf(thrown)}`;
}

/** A name comes from the model and may be of any length. */
const SHOWN_NAME = 200;

function unknownTool(deps: InvokeDeps, call: ToolUseBlock): ToolCallResult {
  const { pool, elsewhere } = deps;
  const near = pool.nearestName(call.name);
  const hint =
    near === undefined
      ? `Known tools: ${pool.tools.map((tool) => tool.name).join(', ')}.`
      : `Did you mean ${near}?`;
  const text = `No such tool available: ${head(call.name, SHOWN_NAME)}. ${hint}`;
  return failure(deps, call, elsewhere?.(call.name) ?? text);
}

/** Of a call that was not run, or broke. */
function failure(deps: InvokeDeps, call: ToolUseBlock, message: string): ToolCallResult {
  return {
    uuid: deps.uuid(),
    block: { type: 'tool_result', tool_use_id: call.id, content: message, is_error: true },
    structured: `Error: ${message}`,
  };
}
