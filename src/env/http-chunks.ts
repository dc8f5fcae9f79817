/** How many unread chunks are kept before the sender is told to wait. */
const HIGH_WATER = 64;

/** Where the chunks come from. */
export interface ChunkSender {
  /** The reader has left: nothing more is wanted. */
  drop(): void;
  /** The reader has caught up after `push` asked for a pause. */
  resume(): void;
}

/**
 * A queue between an event emitter and one reader: cheaper per chunk than a stream's own iterator,
 * and it can be finished politely, which keeps the connection for the next request.
 */
export class ChunkQueue<T> implements AsyncIterableIterator<T> {
  readonly #sender: ChunkSender;
  readonly #items: T[] = [];
  #waiting:
    | { resolve: (result: IteratorResult<T>) => void; reject: (error: Error) => void }
    | undefined;
  #error: Error | undefined;
  #ended = false;
  #discarding = false;
  #paused = false;
  #onEnd: (() => void) | undefined;

  constructor(sender: ChunkSender) {
    this.#sender = sender;
  }

  /** True: the reader is far behind, stop sending until it has caught up. */
  push(item: T): boolean {
    if (this.#discarding) return false;
    const waiting = this.#waiting;
    if (waiting !== undefined) {
      this.#waiting = undefined;
      waiting.resolve({ value: item, done: false });
      return false;
    }
    this.#items.push(item);
    this.#paused = this.#items.length >= HIGH_WATER;
    return this.#paused;
  }

  end(): void {
    this.#ended = true;
    this.#waiting?.resolve({ value: undefined, done: true });
    this.#waiting = undefined;
    this.#onEnd?.();
  }

  fail(error: Error): void {
    if (this.#ended) return;
    this.#error = error;
    this.#waiting?.reject(error);
    this.#waiting = undefined;
    this.#onEnd?.();
  }

  /** The next one, if it is there already. */
  take(): T | undefined {
    const item = this.#items.shift();
    if (item !== undefined && this.#paused && this.#items.length === 0) this.#resume();
    return item;
  }

  next(): Promise<IteratorResult<T>> {
    const item = this.take();
    if (item !== undefined) return Promise.resolve({ value: item, done: false });
    if (this.#error !== undefined) return Promise.reject(this.#error);
    if (this.#ended) return Promise.resolve({ value: undefined, done: true });
    return new Promise((resolve, reject) => {
      this.#waiting = { resolve, reject };
    });
  }

  /** The reader left early. */
  return(): Promise<IteratorResult<T>> {
    this.#items.length = 0;
    if (!this.#ended && !this.#discarding) this.#leave();
    return Promise.resolve({ value: undefined, done: true });
  }

  /** The reader wants no more: what still comes is thrown away, and an end that does not come is not waited for. */
  finish(graceMs: number): void {
    if (this.#ended || this.#error !== undefined || this.#discarding) return;
    this.#discarding = true;
    this.#items.length = 0;
    if (this.#paused) this.#resume();
    const timer = setTimeout(() => this.#leave(), graceMs);
    // A program that is done does not stay for it.
    timer.unref();
    this.#onEnd = () => clearTimeout(timer);
  }

  [Symbol.asyncIterator](): AsyncIterableIterator<T> {
    return this;
  }

  /** Nothing more comes, also for a reader that still waits. */
  #leave(): void {
    this.#sender.drop();
    this.end();
  }

  #resume(): void {
    this.#paused = false;
    this.#sender.resume();
  }
}
