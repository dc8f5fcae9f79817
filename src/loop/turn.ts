import type { ModelFailure } from '../model/client.js';
import { MessageAccumulator } from '../model/stream/accumulate.js';
import type { ModelStopReason } from '../protocol/content.js';
import type { LoopDeps, ModelAnswer } from './types.js';

export type TurnResult =
  | {
      readonly kind: 'answer';
      readonly answer: ModelAnswer;
      readonly display: Readonly<Record<number, string>> | undefined;
    }
  /** The model said nothing at all: nothing was recorded, nothing entered the history. */
  | { readonly kind: 'empty'; readonly stopReason: ModelStopReason | null }
  | { readonly kind: 'failed'; readonly failure: ModelFailure }
  | { readonly kind: 'aborted' };

/**
 * Makes one model call: freezes what the model sees, streams, accumulates, records. What a broken stream
 * delivered is forgotten; only a complete answer is recorded and enters the history.
 */
export async function runTurn(deps: LoopDeps, signal: AbortSignal): Promise<TurnResult> {
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
    // A block's frame comes before its stop event; its id is the transcript line's as well.
    const uuid = block === undefined ? undefined : deps.uuid();
    if (uuid !== undefined) blockIds.push(uuid);
    if (deps.emitPartials === false) continue;
    if (block !== undefined && uuid !== undefined) {
      const { id: answerId, model, usage } = accumulator;
      deps.emit({ type: 'block', block, uuid, answerId, model, usage });
    }
    deps.emit({ type: 'stream', event });
    // A listener may have aborted the turn; buffered events are not delivered any more.
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
