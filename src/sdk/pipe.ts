/** A queue that one side fills and the other reads in order. */
export interface Pipe<T> extends AsyncIterable<T> {
  push(item: T): void;
  /** No more comes; what is there is still read. */
  end(): void;
  /** The same, but the reader then gets this error. */
  fail(error: unknown): void;
  /** How many items wait. */
  readonly size: number;
  next(): Promise<IteratorResult<T, undefined>>;
  /** Called with every item that the reader gets, just before it does. */
  onTaken: ((item: T) => void) | undefined;
}

export function createPipe<T>(): Pipe<T> {
  return new Queue();
}

interface Reader<T> {
  resolve(result: IteratorResult<T, undefined>): void;
  reject(error: unknown): void;
}

interface Ending {
  readonly error?: unknown;
  readonly failed: boolean;
}

const ENDED: Ending = { failed: false };

class Queue<T> implements Pipe<T> {
  onTaken: ((item: T) => void) | undefined;
  readonly #items: T[] = [];
  readonly #readers: Reader<T>[] = [];
  #head = 0;
  #over: Ending | undefined;

  get size(): number {
    return this.#items.length - this.#head;
  }

  push(item: T): void {
    if (this.#over !== undefined) return;
    const reader = this.#readers.shift();
    if (reader === undefined) {
      this.#items.push(item);
      return;
    }
    this.onTaken?.(item);
    reader.resolve({ done: false, value: item });
  }

  end(): void {
    this.#close(ENDED);
  }

  fail(error: unknown): void {
    this.#close({ error, failed: true });
  }

  next(): Promise<IteratorResult<T, undefined>> {
    if (this.#head < this.#items.length) {
      return Promise.resolve({ done: false, value: this.#take() });
    }
    return new Promise((resolve, reject) => {
      const reader = { resolve, reject };
      if (this.#over === undefined) this.#readers.push(reader);
      else this.#finish(reader);
    });
  }

  [Symbol.asyncIterator](): { next(): Promise<IteratorResult<T, undefined>> } {
    return this;
  }

  #take(): T {
    const value = this.#items[this.#head] as T;
    this.#head++;
    // What was read is let go: at once when nothing is left, otherwise when it is the larger part.
    if (this.#head === this.#items.length) {
      this.#items.length = 0;
      this.#head = 0;
    } else if (this.#head > 64 && this.#head * 2 > this.#items.length) {
      this.#items.splice(0, this.#head);
      this.#head = 0;
    }
    this.onTaken?.(value);
    return value;
  }

  #finish(reader: Reader<T>): void {
    const over = this.#over;
    // An error is told once; afterwards the pipe is simply at its end.
    this.#over = ENDED;
    if (over?.failed === true) reader.reject(over.error);
    else reader.resolve({ done: true, value: undefined });
  }

  #close(how: Ending): void {
    if (this.#over !== undefined) return;
    this.#over = how;
    for (const reader of this.#readers.splice(0)) this.#finish(reader);
  }
}
