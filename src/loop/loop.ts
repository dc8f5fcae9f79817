import type { ToolUseBlock, UserBlock } from '../protocol/content.js';
import { textOf } from '../protocol/content.js';
import { runToolBatch } from './tool-batch.js';
import { takeTurn } from './turn.js';
import type { InputMessage, LoopDeps, LoopOutcome, ModelAnswer, StopReason } from './types.js';

/** How often an answer that hit the output limit is asked to go on by itself. */
const MAX_CONTINUATIONS = 3;
/** How often an answer without any content is asked for again. */
const MAX_EMPTY_ANSWERS = 1;

const CONTINUE_NOTE =
  'Your answer was cut off at the output limit. Continue exactly where it stopped, without repeating anything.';

/**
 * Turns until something says stop: a prompt goes in, the model answers, its tool calls run, their
 * results go back. All that it can do comes in through `deps`.
 *
 * Contract: the answer is recorded before any of its calls runs; every call gets a recorded result,
 * also on abort; the outcome says why the run ended. Never throws for anything a model, a tool or an
 * abort does.
 */
export async function runLoop(
  deps: LoopDeps,
  prompts: readonly InputMessage[],
  signal: AbortSignal,
): Promise<LoopOutcome> {
  let turns = 0;
  let continuations = 0;
  let emptyAnswers = 0;
  let answer: ModelAnswer | undefined;
  const leave = (reason: StopReason): LoopOutcome => ({
    reason,
    turns,
    text: answer === undefined ? '' : textOf(answer.message.content),
    lastAnswer: answer,
  });

  addUserMessage(deps, [], prompts);
  for (;;) {
    if (signal.aborted) return leave({ kind: 'aborted', during: 'streaming' });
    const stop = deps.shouldStop(turns);
    if (stop !== undefined) return leave(stop);

    const turn = await takeTurn(deps, signal);
    turns++;
    if (turn.kind === 'aborted') return leave({ kind: 'aborted', during: 'streaming' });
    if (turn.kind === 'failed') {
      const recovered =
        turn.failure.kind === 'prompt_too_long' && (await deps.onPromptTooLong(signal));
      if (recovered) continue;
      return leave({ kind: 'model_failure', failure: turn.failure });
    }
    if (turn.kind === 'empty') {
      if (emptyAnswers++ < MAX_EMPTY_ANSWERS) continue;
      return leave({ kind: 'completed', stopReason: turn.stopReason });
    }
    answer = turn.answer;

    const calls = answer.message.content.filter(
      (block): block is ToolUseBlock => block.type === 'tool_use',
    );
    if (calls.length === 0) {
      const cutOff = answer.stopReason === 'max_tokens' && continuations++ < MAX_CONTINUATIONS;
      const next = cutOff ? runtimeNote(deps, CONTINUE_NOTE) : await deps.onIdle(answer);
      if (next === undefined) return leave({ kind: 'completed', stopReason: answer.stopReason });
      addUserMessage(deps, [], [next]);
      continue;
    }

    const results = await runToolBatch(deps, { calls, malformed: answer.malformed }, signal);
    const finished = results.find((result) => result.finish !== undefined)?.finish;
    const interrupted = signal.aborted || results.some((result) => result.interrupt === true);
    const stopped = results.find((result) => result.stop !== undefined)?.stop;
    const ends = finished !== undefined || stopped !== undefined || interrupted;
    addUserMessage(
      deps,
      results.map((result) => result.block),
      ends ? [] : deps.takeInput(),
    );
    if (finished !== undefined) {
      return leave({ kind: 'finished', structuredOutput: finished.structuredOutput });
    }
    if (interrupted) return leave({ kind: 'aborted', during: 'tools' });
    if (stopped !== undefined) return leave({ kind: 'hook_stopped', message: stopped });
  }
}

/** Tool results (already recorded) and new input become one user message. */
function addUserMessage(
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

function runtimeNote(deps: LoopDeps, text: string): InputMessage {
  return { uuid: deps.uuid(), content: [{ type: 'text', text }], meta: true };
}
