import {
  type ModelEvent,
  type ModelFailure,
  takeEnd,
  takeReady,
  whenReady,
} from '../model/client.js';
import { AnswerFold } from '../model/fold.js';
import type { ModelStopReason } from '../protocol/content.js';
import { isLater } from '../util/at-once.js';
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
 * One model call: freeze what is shown, stream, fold, record. What a broken stream delivered is
 * forgotten; only a whole answer is recorded and enters the history.
 */
export async function takeTurn(deps: LoopDeps, signal: AbortSignal): Promise<TurnResult> {
  const prepared = deps.prepareTurn(signal);
  const request = isLater(prepared) ? await prepared : prepared;
  if (signal.aborted) return { kind: 'aborted' };
  const reading = new Reading(deps, signal);
  const cut = await readAll(deps.callModel(request, signal), reading);
  if (cut !== undefined) return cut;
  if (!reading.isComplete && signal.aborted) return { kind: 'aborted' };
  const { id, model, content, stopReason, usage, malformed, requestId } = reading.fold.answer();
  if (content.length === 0) return { kind: 'empty', stopReason };
  const { blockIds } = reading;
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
  deps.emit(
    display === undefined ? { type: 'answer', answer } : { type: 'answer', answer, display },
  );
  return { kind: 'answer', answer, display };
}

/** Takes in what the model says. What is there already is taken without waiting for each. */
async function readAll(
  events: AsyncIterable<ModelEvent>,
  reading: Reading,
): Promise<TurnResult | undefined> {
  const iterator = events[Symbol.asyncIterator]();
  let ready: readonly ModelEvent[] | undefined;
  for (;;) {
    const coming = ready === undefined ? whenReady(iterator) : undefined;
    if (coming !== undefined) {
      await coming;
      ready = takeReady(iterator);
    }
    if (ready === undefined) {
      const result = await iterator.next();
      if (result.done === true) return undefined;
      ready = [result.value];
    }
    let cut: TurnResult | undefined;
    try {
      cut = reading.takeAll(ready);
    } catch (thrown) {
      // What was to be told comes first: a stream that cannot even be left is no news then.
      await iterator.return?.().catch(() => undefined);
      throw thrown;
    }
    if (cut !== undefined) {
      await iterator.return?.();
      return cut;
    }
    if (takeEnd(iterator)) return undefined;
    ready = takeReady(iterator);
  }
}

/** One answer on its way in. */
class Reading {
  readonly fold = new AnswerFold();
  isComplete = false;
  blockIds: string[] = [];
  readonly #deps: LoopDeps;
  readonly #signal: AbortSignal;
  readonly #tellsParts: boolean;

  constructor(deps: LoopDeps, signal: AbortSignal) {
    this.#deps = deps;
    this.#tellsParts = deps.tellsParts !== false;
    this.#signal = signal;
  }

  /** Set: nothing more is read, and what came is forgotten. */
  takeAll(events: readonly ModelEvent[]): TurnResult | undefined {
    for (const event of events) {
      const cut = this.#take(event);
      if (cut !== undefined) return cut;
    }
    return undefined;
  }

  #take(event: ModelEvent): TurnResult | undefined {
    const { fold } = this;
    const deps = this.#deps;
    if (event.type === 'failure') {
      if (event.failure.kind === 'aborted' || this.#signal.aborted) return { kind: 'aborted' };
      return { kind: 'failed', failure: event.failure };
    }
    if (event.type === 'retry' || event.type === 'fallback') {
      fold.feed(event);
      this.blockIds = [];
      deps.emit({ type: 'retry', event });
      return undefined;
    }
    const block = fold.feed(event);
    if (block !== undefined) {
      // A block's frame comes before its stop event; its id is the transcript line's as well.
      const uuid = deps.uuid();
      this.blockIds.push(uuid);
      if (this.#tellsParts) {
        const { id: answerId, model, usage } = fold;
        deps.emit({ type: 'block', block, uuid, answerId, model, usage });
      }
    }
    if (event.type === 'message_stop') this.isComplete = true;
    if (!this.#tellsParts) return undefined;
    deps.emit({ type: 'stream', event });
    // Whoever was told may have had enough; what has come already is not told any more then.
    return this.#signal.aborted && !this.isComplete ? { kind: 'aborted' } : undefined;
  }
}
