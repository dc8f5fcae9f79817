import type { ModelEvent, ReadyEvents } from './client.js';
import { ABORTED } from './failures.js';

/**
 * Events as they come: one bunch for each piece of a body. Behind `message_stop` or a failure a bunch holds
 * nothing; `upToLast` sees to that.
 */
export type Bunches = Required<Pick<AsyncIterator<readonly ModelEvent[]>, 'next' | 'return'>> & {
  /** No further bunch comes, and nothing has to be closed. Not every sender says so. */
  readonly isOver?: boolean;
};

/**
 * Events that come in bunches, one by one. They end with `message_stop`, a failure, or the last bunch.
 * By hand and not a generator, as in watched.ts: what is there already is given without a turn of the
 * queue.
 */
export function oneByOne(bunches: Bunches, signal: AbortSignal): ReadyEvents {
  return new BunchedEvents(bunches, signal);
}

/** The end of events that have nothing left to close. */
export const OVER: IteratorReturnResult<undefined> = Object.freeze({
  value: undefined,
  done: true,
});

/** Whether anything may come after it. */
export function isLast(event: ModelEvent | undefined): boolean {
  return event?.type === 'message_stop' || event?.type === 'failure';
}

/** What of a bunch is an answer: nothing is read behind its end. */
export function upToLast(bunch: readonly ModelEvent[]): readonly ModelEvent[] {
  const end = bunch.findIndex(isLast);
  return end === -1 || end === bunch.length - 1 ? bunch : bunch.slice(0, end + 1);
}

const NONE: readonly ModelEvent[] = [];

class BunchedEvents implements ReadyEvents {
  readonly #bunches: Bunches;
  readonly #signal: AbortSignal;
  #bunch: readonly ModelEvent[] = NONE;
  #given = 0;
  /** How the sender broke while it was waited for: whoever asks next is told. */
  #broken: { readonly thrown: unknown } | undefined;

  constructor(bunches: Bunches, signal: AbortSignal) {
    this.#bunches = bunches;
    this.#signal = signal;
  }

  next(): Promise<IteratorResult<ModelEvent>> {
    const event = this.#bunch[this.#given];
    if (event === undefined) return this.#wait();
    if (this.#signal.aborted && event.type !== 'failure') return this.#aborted();
    this.#given++;
    return Promise.resolve({ value: event, done: false });
  }

  takeReady(): readonly ModelEvent[] | undefined {
    const bunch = this.#bunch;
    const from = this.#given;
    const to = bunch.at(-1)?.type === 'failure' ? bunch.length - 1 : bunch.length;
    if (from >= to || this.#signal.aborted) return undefined;
    this.#given = to;
    return from === 0 && to === bunch.length ? bunch : bunch.slice(from, to);
  }

  whenReady(): Promise<unknown> | undefined {
    if (this.#given < this.#bunch.length || this.#broken !== undefined) return undefined;
    return this.#bunches.next().then(
      (result) => this.#keep(result),
      (thrown: unknown) => {
        this.#broken = { thrown };
      },
    );
  }

  takeEnd(): boolean {
    return this.#given >= this.#bunch.length && this.#bunches.isOver === true;
  }

  return(): Promise<IteratorResult<ModelEvent>> {
    this.#bunch = NONE;
    return this.#bunches.return(undefined).then(over);
  }

  [Symbol.asyncIterator](): ReadyEvents {
    return this;
  }

  #wait(): Promise<IteratorResult<ModelEvent>> {
    const broken = this.#broken;
    this.#broken = undefined;
    return broken === undefined
      ? this.#bunches.next().then((result) => this.#come(result))
      : Promise.reject(broken.thrown);
  }

  /** True: there was one. */
  #keep(result: IteratorResult<readonly ModelEvent[]>): boolean {
    if (result.done === true) return false;
    this.#bunch = result.value;
    this.#given = 0;
    return true;
  }

  #come(
    result: IteratorResult<readonly ModelEvent[]>,
  ): IteratorResult<ModelEvent> | Promise<IteratorResult<ModelEvent>> {
    if (!this.#keep(result)) return OVER;
    const value = this.#bunch[0];
    if (value === undefined || this.#signal.aborted) return this.next();
    this.#given = 1;
    return { value, done: false };
  }

  async #aborted(): Promise<IteratorResult<ModelEvent>> {
    await this.return();
    return { value: { type: 'failure', failure: ABORTED }, done: false };
  }
}

function over(): IteratorResult<ModelEvent> {
  return OVER;
}
