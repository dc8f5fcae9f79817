import type { UserBlock } from '../protocol/content.js';
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
  const [only] = batch.calls;
  if (only !== undefined && isDeferred(deps, batch, results[0])) {
    return { kind: 'tool_deferred', call: only };
  }
  const finished = batch.calls.flatMap((call, index) => {
    const result = results[index];
    return result === undefined ? [] : [{ call, result }];
  });
  const after = (await deps.afterBatch?.(finished, signal)) ?? { inputs: [] };
  const stop = endOf(results, after.stop, signal);
  addUserMessage(
    deps,
    results.map((result) => result.block),
    stop === undefined ? [...after.inputs, ...(await more())] : after.inputs,
  );
  return stop;
}

/** What results and hooks make of a run: undefined, it goes on. */
function endOf(
  results: readonly ToolCallResult[],
  batchStop: string | undefined,
  signal: AbortSignal,
): StopReason | undefined {
  const finished = results.find((result) => result.finish !== undefined)?.finish;
  if (finished !== undefined) {
    return { kind: 'finished', structuredOutput: finished.structuredOutput };
  }
  if (signal.aborted || results.some((result) => result.interrupt === true)) {
    return { kind: 'aborted', during: 'tools' };
  }
  const message = results.find((result) => result.stop !== undefined)?.stop ?? batchStop;
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
  const content = [...results, ...inputs.flatMap((input) => input.content)];
  if (content.length > 0) deps.conversation.append({ role: 'user', content });
}
