import { messageOf } from '../errors.js';
import type { Gate, GateVerdict } from '../permissions/types.js';
import type { AgentRef } from '../protocol/agent-ref.js';
import type { ToolUseBlock } from '../protocol/content.js';
import type { MalformedInput, ToolCallResult } from '../protocol/tool-call.js';
import { head } from '../util/truncate.js';
import type { InvalidInput } from './invalid-input.js';
import { describeMalformed, describeProblems } from './invalid-input.js';
import type { ToolPool } from './pool.js';
import type { AnyTool, ToolContext, ToolOutput, Workspace } from './tool.js';

export interface InvokeDeps {
  readonly pool: ToolPool;
  readonly gate: Gate;
  readonly agent: AgentRef;
  readonly workspace: Workspace;
  contextFor(call: ToolUseBlock, signal: AbortSignal): ToolContext;
  /** Told of every verdict, for receipts and the result's list of denials. */
  onVerdict(call: ToolUseBlock, tool: AnyTool, verdict: GateVerdict): void;
  /** Told of a call whose input was broken or invalid; returns a note to add, e.g. about a kept draft. */
  onInvalidInput(invalid: InvalidInput): string | undefined;
  /** Told of a call that ran. */
  onRan(call: ToolUseBlock, tool: AnyTool, output: ToolOutput): void;
  /** Cuts or spills what is too long to show. */
  bound(output: ToolOutput, context: ToolContext): Promise<ToolOutput>;
  uuid(): string;
}

/** Runs one tool call of one agent, whatever it is, and always resolves. */
export type Invoke = (
  call: ToolUseBlock,
  malformed: MalformedInput | undefined,
  signal: AbortSignal,
) => Promise<ToolCallResult>;

/**
 * The one way in: name → input → gate → run → bound. No other code calls `Tool.run`; the
 * architecture test checks it.
 */
export function createInvoke(deps: InvokeDeps): Invoke {
  return async (call, malformed, signal) => {
    const tool = deps.pool.resolve(call.name);
    if (tool === undefined) return failure(deps, call, unknownTool(deps.pool, call.name));
    try {
      const input = tool.fromModel?.(call.input) ?? call.input;
      const problem = await inputProblem(deps, { call, tool, malformed, input });
      if (problem !== undefined) return failure(deps, call, problem);
      return await throughGate(deps, { call, tool, input }, signal);
    } catch (thrown) {
      return failure(deps, call, `${tool.name} failed: ${messageOf(thrown)}`);
    }
  };
}

async function throughGate(
  deps: InvokeDeps,
  { call, tool, input }: { call: ToolUseBlock; tool: AnyTool; input: ToolUseBlock['input'] },
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
  });
  deps.onVerdict(call, tool, verdict);
  if (verdict.kind === 'refused') {
    const { message, interrupt, stop } = verdict;
    const ending = stop === undefined ? {} : { stop };
    return { ...failure(deps, call, message), interrupt, ...ending };
  }
  const context = deps.contextFor(call, signal);
  verdict.permit.spend(call.id, verdict.input);
  const output = await deps.bound(await tool.run(verdict.input, context, verdict.permit), context);
  deps.onRan(call, tool, output);
  return {
    uuid: deps.uuid(),
    block: {
      type: 'tool_result',
      tool_use_id: call.id,
      content: output.content,
      ...(output.isError === true ? { is_error: true } : {}),
    },
    structured: output.structured,
    ...(output.finish === undefined ? {} : { finish: output.finish }),
  };
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
): Promise<string | undefined> {
  const problems = malformed === undefined ? await tool.validate(input) : [];
  if (malformed === undefined && problems.length === 0) return undefined;
  const text =
    malformed === undefined
      ? describeProblems(tool.name, problems)
      : describeMalformed(tool.name, malformed);
  const note = deps.onInvalidInput({ call, tool: tool.name, malformed, problems });
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
