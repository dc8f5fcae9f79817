import type { ModelFailure } from '../model/client.js';
import { AnswerFold } from '../model/fold.js';
import type { ModelStopReason } from '../protocol/content.js';
import type { LoopDeps, ModelAnswer } from './types.js';

export type TurnResult =
  | {
      readonly kind: 'answer';
      readonly answer: ModelAnswer;
      readonly display: ReadonlyMap<number, string> | undefined;
    }
  /** The model said nothing at all: nothing was recorded, nothing entered the history. */
  | { readonly kind: 'empty'; readonly stopReason: ModelStopReason | null }
  | { readonly kind: 'failed'; readonly failure: ModelFailure }
  | { readonly kind: 'aborted' };

/**
 * One model call: freeze what is shown, stream, fold, record. What a broken stream delivered is
 * forgotten; only a whole answer is recorded and enters the history.
 */
export async function takeTurn(deps: LoopDeps, signal: AbortSignal): Promise<TurnResult> {
  const request = await deps.prepareTurn(signal);
  if (signal.aborted) return { kind: 'aborted' };
  const fold = new AnswerFold();
  let complete = false;
  let blockIds: string[] = [];
  for await (const event of deps.callModel(request, signal)) {
    if (event.type === 'failure') {
      if (event.failure.kind === 'aborted' || signal.aborted) return { kind: 'aborted' };
      return { kind: 'failed', failure: event.failure };
    }
    if (event.type === 'retry' || event.type === 'fallback') {
      fold.feed(event);
      blockIds = [];
      deps.emit({ type: 'retry', event });
      continue;
    }
    const block = fold.feed(event);
    if (block !== undefined) {
      // A block's frame comes before its stop event; its id is the transcript line's as well.
      const uuid = deps.uuid();
      blockIds.push(uuid);
      deps.emit({
        type: 'block',
        block,
        uuid,
        answerId: fold.id,
        model: fold.model,
        usage: fold.usage,
      });
    }
    if (event.type === 'message_stop') complete = true;
    deps.emit({ type: 'stream', event });
  }
  if (!complete && signal.aborted) return { kind: 'aborted' };
  const { id, model, content, stopReason, usage, malformed, requestId } = fold.answer();
  if (content.length === 0) return { kind: 'empty', stopReason };
  while (blockIds.length < content.length) blockIds.push(deps.uuid());
  const answer: ModelAnswer = {
    id,
    model,
    message: { role: 'assistant', content },
    blockIds,
    stopReason,
    usage,
    malformed,
    requestId,
  };
  deps.recordAnswer(answer);
  deps.conversation.append(answer.message);
  const display = deps.display === undefined ? undefined : await deps.display(answer);
  deps.emit({ type: 'answer', answer, ...(display === undefined ? {} : { display }) });
  return { kind: 'answer', answer, display };
}
