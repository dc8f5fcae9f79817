import { messageOf } from '../errors.js';
import { head } from '../lib/truncate.js';
import type { GateVerdict } from '../permissions/types.js';
import type { ToolUseBlock } from '../protocol/content.js';
import type { ToolCallResult } from '../protocol/tool-call.js';
import type { CheckedCall, InvokeDeps } from './invocation.js';
import type { ToolPool } from './pool.js';
import type { AnyTool, ToolOutput } from './tool.js';

const NONE: readonly string[] = [];

/** Of a call that the gate has refused. */
export async function refusedResult(
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
    stop,
    ...(contexts.length === 0 ? {} : { contexts }),
    ...(deferred === true ? { deferred } : {}),
  };
}

/** Of a tool that did not even say that it failed. */
export function thrownOutput(tool: AnyTool, thrown: unknown): ToolOutput {
  const text = thrownText(tool, thrown);
  return { content: text, isError: true, structured: `Error: ${text}` };
}

export function thrownText(tool: AnyTool, thrown: unknown): string {
  return `${tool.name} failed: ${messageOf(thrown)}`;
}

/** A name comes from the model and may be of any length. */
const SHOWN_NAME = 200;

export function unknownTool(pool: ToolPool, name: string): string {
  const near = pool.nearestName(name);
  const hint =
    near === undefined
      ? `Known tools: ${pool.tools.map((tool) => tool.name).join(', ')}.`
      : `Did you mean ${near}?`;
  return `No such tool available: ${head(name, SHOWN_NAME)}. ${hint}`;
}

/** Of a call that was not run, or broke. */
export function failure(deps: InvokeDeps, call: ToolUseBlock, message: string): ToolCallResult {
  return {
    uuid: deps.uuid(),
    block: { type: 'tool_result', tool_use_id: call.id, content: message, is_error: true },
    structured: `Error: ${message}`,
  };
}
