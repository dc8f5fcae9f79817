import type { ModelEvent } from './client.js';
import { ABORTED } from './failures.js';

/**
 * Events that come in bunches, one for each piece of a body, one by one. They end with `message_stop`,
 * a failure, or the last bunch. By hand and not a generator, as in watched.ts: what is there already is
 * given without a turn of the queue.
 */
export function oneByOne(
  bunches: AsyncGenerator<readonly ModelEvent[]>,
  signal: AbortSignal,
): AsyncIterableIterator<ModelEvent> {
  return new BunchedEvents(bunches, signal);
}

/** Whether anything may come after it. */
export function isLast(event: ModelEvent | undefined): boolean {
  return event?.type === 'message_stop' || event?.type === 'failure';
}

/** What of a bunch is an answer: nothing is read behind its end. */
export function upToLast(bunch: readonly ModelEvent[]): readonly ModelEvent[] {
  const end = bunch.findIndex(isLast);
  return end === -1 || end === bunch.length - 1 ? bunch : bunch.slice(0, end + 1);
}

class BunchedEvents implements AsyncIterableIterator<ModelEvent> {
  readonly #bunches: AsyncGenerator<readonly ModelEvent[]>;
  readonly #signal: AbortSignal;
  #bunch: readonly ModelEvent[] = [];
  #given = 0;

  constructor(bunches: AsyncGenerator<readonly ModelEvent[]>, signal: AbortSignal) {
    this.#bunches = bunches;
    this.#signal = signal;
  }

  next(): Promise<IteratorResult<ModelEvent>> {
    const event = this.#bunch[this.#given];
    if (event === undefined) return this.#bunches.next().then(this.#come);
    if (this.#signal.aborted && event.type !== 'failure') return this.#aborted();
    this.#given++;
    return Promise.resolve({ value: event, done: false });
  }

  async return(): Promise<IteratorResult<ModelEvent>> {
    this.#bunch = [];
    await this.#bunches.return(undefined);
    return { value: undefined, done: true };
  }

  [Symbol.asyncIterator](): AsyncIterableIterator<ModelEvent> {
    return this;
  }

  readonly #come = (
    result: IteratorResult<readonly ModelEvent[]>,
  ): IteratorResult<ModelEvent> | Promise<IteratorResult<ModelEvent>> => {
    if (result.done === true) return { value: undefined, done: true };
    this.#bunch = result.value;
    this.#given = 0;
    return this.next();
  };

  async #aborted(): Promise<IteratorResult<ModelEvent>> {
    await this.return();
    return { value: { type: 'failure', failure: ABORTED }, done: false };
  }
}
