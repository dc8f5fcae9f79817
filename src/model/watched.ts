import { type ModelEvent, type ReadyEvents, takeEnd, takeReady, whenReady } from './client.js';

/** Whoever looks at events on their way. */
export interface Watcher {
  saw(event: ModelEvent): void;
  /** Once, however the reading ends. */
  over(): void;
}

/**
 * The same events, looked at as they pass. By hand and not a generator: that would cost every event
 * three turns of the queue, for every watcher on its way.
 */
export function watched(events: AsyncIterable<ModelEvent>, watcher: Watcher): ReadyEvents {
  return new WatchedEvents(events[Symbol.asyncIterator](), watcher);
}

class WatchedEvents implements ReadyEvents {
  readonly #events: AsyncIterator<ModelEvent>;
  readonly #watcher: Watcher;
  #isOver = false;

  constructor(events: AsyncIterator<ModelEvent>, watcher: Watcher) {
    this.#events = events;
    this.#watcher = watcher;
  }

  next(): Promise<IteratorResult<ModelEvent>> {
    return this.#events.next().then(
      (result) => this.#passed(result),
      (thrown: unknown) => this.#broke(thrown),
    );
  }

  takeReady(): readonly ModelEvent[] | undefined {
    const ready = takeReady(this.#events);
    if (ready !== undefined) for (const event of ready) this.#watcher.saw(event);
    return ready;
  }

  whenReady(): Promise<unknown> | undefined {
    try {
      return whenReady(this.#events);
    } catch (thrown) {
      return this.#broke(thrown);
    }
  }

  takeEnd(): boolean {
    const isOver = takeEnd(this.#events);
    if (isOver) this.#end();
    return isOver;
  }

  async return(): Promise<IteratorResult<ModelEvent>> {
    try {
      await this.#events.return?.();
    } finally {
      this.#end();
    }
    return { value: undefined, done: true };
  }

  [Symbol.asyncIterator](): ReadyEvents {
    return this;
  }

  #passed(result: IteratorResult<ModelEvent>): IteratorResult<ModelEvent> {
    if (result.done === true) this.#end();
    else this.#watcher.saw(result.value);
    return result;
  }

  #broke(thrown: unknown): never {
    this.#end();
    throw thrown;
  }

  #end(): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#watcher.over();
  }
}
