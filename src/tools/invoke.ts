import { messageOf } from '../errors.js';
import type { ToolUseBlock } from '../protocol/content.js';
import type { MalformedInput, ToolCallResult } from '../protocol/tool-call.js';
import { extended } from '../util/extended.js';
import { seal } from '../util/sealed.js';
import { head } from '../util/truncate.js';
import { describeMalformed, describeProblems } from './invalid-input.js';
import type { CheckedCall, Invoke, InvokeDeps } from './invocation.js';
import type { ToolPool } from './pool.js';
import type { AnyTool, ToolOutput } from './tool.js';

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
      const problem = await inputProblem(deps, { call, tool, malformed, input }, signal);
      if (problem !== undefined) return failure(deps, call, problem);
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
  const verdict = await deps.gate({
    toolUseId: call.id,
    tool,
    input,
    subject: tool.subject(input, deps.workspace),
    agent: deps.agent,
    workspace: deps.workspace,
    signal,
    ...(deps.unattended === true ? { unattended: true } : {}),
  });
  deps.onVerdict(call, tool, verdict);
  const said = verdict.contexts ?? [];
  if (verdict.kind === 'refused') {
    const { interrupt, stop, deferred } = verdict;
    const hint = await deps.onRefused?.({ call, tool, input }, verdict, signal);
    const message = hint === undefined ? verdict.message : `${verdict.message}\n${hint}`;
    return {
      ...failure(deps, call, message),
      interrupt,
      ...(stop === undefined ? {} : { stop }),
      ...(said.length === 0 ? {} : { contexts: said }),
      ...(deferred === true ? { deferred } : {}),
    };
  }
  const { agentContext, judged } = verdict;
  const plain = deps.contextFor(call, signal, judged);
  const context = agentContext === undefined ? plain : extended(plain, { agentContext });
  const watch = await deps.watch?.({ call, tool, input: verdict.input, verdict }, context);
  const hold = watch?.hold;
  // fail-closed: a tool that does not say that it waits is not run before it may change something.
  if (hold !== undefined && tool.startsHeld !== true) await hold();
  const started = deps.monotonic();
  verdict.permit.spend(call.id, verdict.input);
  const raw = await tool
    .run(verdict.input, hold === undefined ? context : extended(context, { hold }), verdict.permit)
    .catch((thrown: unknown) => thrownOutput(tool, thrown));
  const ms = deps.monotonic() - started;
  const observed = watch === undefined ? [] : await watch.ended(raw);
  const finished = { call, tool, input: verdict.input, output: raw, ms, judged };
  const reviewed = (await deps.review?.(finished, context)) ?? { output: raw, contexts: [] };
  const output = await deps.bound(reviewed.output, context);
  deps.onRan(call, tool, output);
  return resultOf(deps.uuid(), call, output, {
    contexts: [...said, ...observed, ...reviewed.contexts],
    stop: reviewed.stop,
  });
}

function resultOf(
  uuid: string,
  call: ToolUseBlock,
  output: ToolOutput,
  { contexts, stop }: { contexts: readonly string[]; stop: string | undefined },
): ToolCallResult {
  const { content, structured, isError, finish, followUp } = output;
  return {
    uuid,
    block: {
      type: 'tool_result',
      tool_use_id: call.id,
      content,
      ...(isError === true ? { is_error: true } : {}),
    },
    structured,
    ...(finish === undefined ? {} : { finish }),
    ...(contexts.length === 0 ? {} : { contexts }),
    ...(followUp === undefined ? {} : { followUp: followUp.map(({ text }) => text) }),
    ...(stop === undefined ? {} : { stop }),
  };
}

function thrownOutput(tool: AnyTool, thrown: unknown): ToolOutput {
  const text = `${tool.name} failed: ${messageOf(thrown)}`;
  return { content: text, isError: true, structured: `Error: ${text}` };
}

async function inputProblem(
  deps: InvokeDeps,
  {
    call,
    tool,
    malformed,
    input,
  }: {
    call: ToolUseBlock;
    tool: AnyTool;
    malformed: MalformedInput | undefined;
    input: ToolUseBlock['input'];
  },
  signal: AbortSignal,
): Promise<string | undefined> {
  const problems = malformed === undefined ? await tool.validate(input) : [];
  if (malformed === undefined && problems.length === 0) return undefined;
  const text =
    malformed === undefined
      ? describeProblems(tool.name, problems)
      : describeMalformed(tool.name, malformed);
  const note = await deps.onInvalidInput({ call, tool: tool.name, malformed, problems }, signal);
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
