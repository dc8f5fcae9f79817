import type { ToolUseBlock, UserBlock } from '../protocol/content.js';
import { isLater } from '../util/at-once.js';
import { isDeferred, runToolBatch, type ToolBatch } from './tool-batch.js';
import type { InputMessage, LoopDeps, StopReason, ToolCallResult } from './types.js';

/**
 * Runs the calls of one answer, adds their results and what came with them to the conversation, and
 * says whether the run ends here.
 */
export async function takeToolStep(
  deps: LoopDeps,
  {
    batch,
    more,
  }: {
    readonly batch: ToolBatch;
    /** What else goes into the message, when the run goes on. */
    readonly more: LoopDeps['takeInput'];
  },
  signal: AbortSignal,
): Promise<StopReason | undefined> {
  const results = await runToolBatch(deps, batch, signal);
  const only = batch.calls[0];
  if (only !== undefined && isDeferred(deps, batch, results[0])) {
    return { kind: 'tool_deferred', call: only };
  }
  const hearing = deps.afterBatch?.(finishedOf(batch, results), signal);
  const after = isLater(hearing) ? await hearing : hearing;
  const stop = endOf(results, after?.stop, signal);
  let inputs = after?.inputs ?? [];
  if (stop === undefined) {
    const coming = more();
    inputs = joined(inputs, isLater(coming) ? await coming : coming);
  }
  addUserMessage(
    deps,
    results.map((result) => result.block),
    inputs,
  );
  return stop;
}

function finishedOf(
  { calls }: ToolBatch,
  results: readonly ToolCallResult[],
): { call: ToolUseBlock; result: ToolCallResult }[] {
  const finished: { call: ToolUseBlock; result: ToolCallResult }[] = [];
  for (const [index, result] of results.entries()) {
    const call = calls[index];
    if (call !== undefined) finished.push({ call, result });
  }
  return finished;
}

function joined<T>(some: readonly T[], more: readonly T[]): readonly T[] {
  if (some.length === 0) return more;
  return more.length === 0 ? some : [...some, ...more];
}

/** What results and hooks make of a run: undefined, it goes on. */
function endOf(
  results: readonly ToolCallResult[],
  batchStop: string | undefined,
  signal: AbortSignal,
): StopReason | undefined {
  let isInterrupted = signal.aborted;
  let message: string | undefined;
  for (const { finish, interrupt, stop } of results) {
    if (finish !== undefined) {
      return { kind: 'finished', structuredOutput: finish.structuredOutput };
    }
    if (interrupt === true) isInterrupted = true;
    message ??= stop;
  }
  if (isInterrupted) return { kind: 'aborted', during: 'tools' };
  message ??= batchStop;
  return message === undefined ? undefined : { kind: 'hook_stopped', message };
}

/** Tool results (already recorded) and new input become one user message. */
export function addUserMessage(
  deps: LoopDeps,
  results: readonly UserBlock[],
  inputs: readonly InputMessage[],
): void {
  for (const input of inputs) {
    deps.recordInput(input);
    deps.emit({ type: 'input', message: input });
  }
  const content = joined(
    results,
    inputs.flatMap((input) => input.content),
  );
  if (content.length > 0) deps.conversation.append({ role: 'user', content });
}
