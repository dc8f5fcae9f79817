import type { ToolUseBlock, UserBlock } from '../protocol/content.js';
import { type AtOnce, isLater } from '../util/at-once.js';
import { isDeferred, runToolBatch, type ToolBatch } from './tool-batch.js';
import type { BatchEnd, InputMessage, LoopDeps, StopReason, ToolCallResult } from './types.js';

/** One answer's calls, and what else goes into the message with their results when the run goes on. */
export interface ToolStep {
  readonly batch: ToolBatch;
  readonly more: LoopDeps['takeInput'];
}

/**
 * Runs the calls of one answer, adds their results and what came with them to the conversation, and
 * says whether the run ends here.
 */
export function takeToolStep(
  deps: LoopDeps,
  step: ToolStep,
  signal: AbortSignal,
): AtOnce<StopReason | undefined> {
  const running = runToolBatch(deps, step.batch, signal);
  return isLater(running)
    ? running.then((results) => afterResults(deps, { step, results }, signal))
    : afterResults(deps, { step, results: running }, signal);
}

interface RanStep {
  readonly step: ToolStep;
  readonly results: readonly ToolCallResult[];
}

function afterResults(
  deps: LoopDeps,
  ran: RanStep,
  signal: AbortSignal,
): AtOnce<StopReason | undefined> {
  const { step, results } = ran;
  const { batch } = step;
  const only = batch.calls[0];
  if (only !== undefined && isDeferred(deps, batch, results[0])) {
    return { kind: 'tool_deferred', call: only };
  }
  const hearing = deps.afterBatch?.(finishedOf(batch, results), signal);
  return isLater(hearing)
    ? hearing.then((after) => heard(deps, ran, endOf(results, after, signal)))
    : heard(deps, ran, endOf(results, hearing, signal));
}

/** What stands after the results of a step, and whether it is the last one. */
interface StepEnd {
  readonly inputs: readonly InputMessage[];
  readonly stop: StopReason | undefined;
}

function heard(
  deps: LoopDeps,
  { step, results }: RanStep,
  { inputs, stop }: StepEnd,
): AtOnce<StopReason | undefined> {
  const coming = stop === undefined ? step.more() : NOTHING;
  if (isLater(coming)) {
    return coming.then((more) => {
      addUserMessage(deps, blocksOf(results), joined(inputs, more));
      return stop;
    });
  }
  addUserMessage(deps, blocksOf(results), joined(inputs, coming));
  return stop;
}

const NOTHING: readonly InputMessage[] = [];

function blocksOf(results: readonly ToolCallResult[]): readonly UserBlock[] {
  return results.map(({ block }) => block);
}

function finishedOf(
  { calls }: ToolBatch,
  results: readonly ToolCallResult[],
): { call: ToolUseBlock; result: ToolCallResult }[] {
  const finished: { call: ToolUseBlock; result: ToolCallResult }[] = [];
  for (let index = 0; index < results.length; index++) {
    const call = calls[index];
    const result = results[index];
    if (call !== undefined && result !== undefined) finished.push({ call, result });
  }
  return finished;
}

function joined<T>(some: readonly T[], more: readonly T[]): readonly T[] {
  if (some.length === 0) return more;
  return more.length === 0 ? some : [...some, ...more];
}

/** What results and hooks make of a run. */
function endOf(
  results: readonly ToolCallResult[],
  after: BatchEnd | undefined,
  signal: AbortSignal,
): StepEnd {
  const inputs = after?.inputs ?? NOTHING;
  let isInterrupted = signal.aborted;
  let message: string | undefined;
  for (const { finish, interrupt, stop } of results) {
    if (finish !== undefined) {
      return { inputs, stop: { kind: 'finished', structuredOutput: finish.structuredOutput } };
    }
    if (interrupt === true) isInterrupted = true;
    message ??= stop;
  }
  if (isInterrupted) return { inputs, stop: { kind: 'aborted', during: 'tools' } };
  message ??= after?.stop;
  const stop: StopReason | undefined =
    message === undefined ? undefined : { kind: 'hook_stopped', message };
  return { inputs, stop };
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
  const content =
    inputs.length === 0
      ? results
      : joined(
          results,
          inputs.flatMap((input) => input.content),
        );
  if (content.length > 0) deps.conversation.append({ role: 'user', content });
}
