import type { ModelFailure } from '../model/client.js';
import { MessageAccumulator } from '../model/stream/accumulate.js';
import {
  type AssistantBlock,
  type ModelStopReason,
  type ToolUseBlock,
  textOf,
} from '../protocol/content.js';
import { addUserMessage, runToolCalls } from './tool-calls.js';
import type {
  IdleDecision,
  InputMessage,
  LoopDeps,
  LoopOutcome,
  ModelAnswer,
  StopReason,
} from './types.js';

/** How often the loop asks the model to continue an answer that hit the output limit. */
const MAX_CONTINUATIONS = 3;
/** How often the loop repeats a request after an empty answer. */
const MAX_EMPTY_ANSWERS = 1;

const CONTINUE_NOTE =
  'Your answer was cut off at the output limit. Continue exactly where it stopped, without repeating anything.';

export interface LoopStart {
  readonly prompts: readonly InputMessage[];
  /** Deferred calls of the last answer, run before the next model call. */
  readonly pending?: readonly ToolUseBlock[];
}

/**
 * Runs turns until something stops it: a prompt goes in, the model answers, its tool calls run,
 * their results go back. Everything that the loop can do comes in through `deps`.
 *
 * Contract: the answer is recorded before any of its calls runs; every call gets a recorded result,
 * also on abort; the outcome says why the run ended. Never throws for anything a model, a tool or
 * an abort does.
 */
export async function runLoop(
  deps: LoopDeps,
  { prompts, pending = [] }: LoopStart,
  signal: AbortSignal,
): Promise<LoopOutcome> {
  let turns = 0;
  /** Answers to `sameTurn` messages, which do not count as turns of their own. */
  let sameTurns = 0;
  let continuations = 0;
  let emptyAnswers = 0;
  let answer: ModelAnswer | undefined;
  let display: Readonly<Record<number, string>> | undefined;
  const leave = (reason: StopReason): LoopOutcome => ({
    reason,
    turns: turns - sameTurns,
    text: answer === undefined ? '' : textOf(answer.message.content),
    lastAnswer: answer,
    display: display && displayedText(answer, display),
  });

  if (pending.length > 0) {
    const batch = { calls: pending, malformed: new Map() };
    const stop = await runToolCalls(deps, { batch, takeInput: async () => prompts }, signal);
    if (stop !== undefined) return leave(stop);
  } else {
    addUserMessage(deps, [], prompts);
  }
  for (;;) {
    if (signal.aborted) return leave({ kind: 'aborted', during: 'streaming' });
    const stop = deps.shouldStop(turns);
    if (stop !== undefined) return leave(stop);

    const turn = await runTurn(deps, signal);
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
    display = turn.display;

    const calls = answer.message.content.filter(isToolUse);
    if (calls.length === 0) {
      const cutOff = answer.stopReason === 'max_tokens' && continuations++ < MAX_CONTINUATIONS;
      const next: IdleDecision = cutOff
        ? runtimeNote(deps, CONTINUE_NOTE)
        : await deps.onIdle(answer, signal);
      if (next === undefined) return leave({ kind: 'completed', stopReason: answer.stopReason });
      if ('leave' in next) return leave(next.leave);
      const { sameTurn, ...message } = next;
      if (sameTurn === true) sameTurns++;
      addUserMessage(deps, [], [message]);
      continue;
    }

    const batch = { calls, malformed: answer.malformed };
    const toolStop = await runToolCalls(deps, { batch, takeInput: deps.takeInput }, signal);
    if (toolStop !== undefined) return leave(toolStop);
  }
}

function isToolUse(block: AssistantBlock): block is ToolUseBlock {
  return block.type === 'tool_use';
}

/** The last answer's text with the blocks that a client shows differently replaced. */
function displayedText(
  answer: ModelAnswer | undefined,
  display: Readonly<Record<number, string>>,
): string {
  const content = answer?.message.content ?? [];
  return textOf(
    content.map((block, index) => {
      const text = display[index];
      return block.type === 'text' && text !== undefined ? { ...block, text } : block;
    }),
  );
}

function runtimeNote(deps: LoopDeps, text: string): InputMessage {
  return { uuid: deps.uuid(), content: [{ type: 'text', text }], meta: true };
}

export type TurnResult =
  | {
      readonly kind: 'answer';
      readonly answer: ModelAnswer;
      readonly display: Readonly<Record<number, string>> | undefined;
    }
  /** The answer had no content: nothing was recorded or added to the history. */
  | { readonly kind: 'empty'; readonly stopReason: ModelStopReason | null }
  | { readonly kind: 'failed'; readonly failure: ModelFailure }
  | { readonly kind: 'aborted' };

/**
 * Makes one model call: freezes the request, streams, accumulates, records. Parts of a broken
 * stream are dropped; only a complete answer is recorded and enters the history.
 */
async function runTurn(deps: LoopDeps, signal: AbortSignal): Promise<TurnResult> {
  const request = await deps.prepareTurn(signal);
  if (signal.aborted) return { kind: 'aborted' };
  const accumulator = new MessageAccumulator();
  let blockIds: string[] = [];
  let isComplete = false;
  for await (const event of deps.callModel(request, signal)) {
    if (event.type === 'failure') {
      const isAborted = event.failure.kind === 'aborted' || signal.aborted;
      return isAborted ? { kind: 'aborted' } : { kind: 'failed', failure: event.failure };
    }
    const block = accumulator.push(event);
    if (event.type === 'retry' || event.type === 'fallback') {
      blockIds = [];
      deps.emit({ type: 'retry', event });
      continue;
    }
    isComplete ||= event.type === 'message_stop';
    // A block's frame is emitted before its stop event and shares its id with the transcript line.
    const uuid = block === undefined ? undefined : deps.uuid();
    if (uuid !== undefined) blockIds.push(uuid);
    if (deps.emitPartials === false) continue;
    if (block !== undefined && uuid !== undefined) {
      const { id: answerId, model, usage } = accumulator;
      deps.emit({ type: 'block', block, uuid, answerId, model, usage });
    }
    deps.emit({ type: 'stream', event });
    // A listener may have aborted the turn; the remaining buffered events are then dropped.
    if (signal.aborted && !isComplete) return { kind: 'aborted' };
  }
  if (!isComplete && signal.aborted) return { kind: 'aborted' };
  const { content, ...answered } = accumulator.answer();
  if (content.length === 0) return { kind: 'empty', stopReason: answered.stopReason };
  while (blockIds.length < content.length) blockIds.push(deps.uuid());
  const answer: ModelAnswer = { ...answered, message: { role: 'assistant', content }, blockIds };
  deps.recordAnswer(answer);
  deps.conversation.append(answer.message);
  const display = await deps.display?.(answer);
  deps.emit({ type: 'answer', answer, display });
  return { kind: 'answer', answer, display };
}
