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
  /** Called whenever an item was taken out. */
  onTaken: (() => void) | undefined;
}

interface Reader<T> {
  resolve(result: IteratorResult<T, undefined>): void;
  reject(error: unknown): void;
}

export function createPipe<T>(): Pipe<T> {
  const items: T[] = [];
  const readers: Reader<T>[] = [];
  let head = 0;
  let over: { readonly error?: unknown; readonly failed: boolean } | undefined;
  const finish = (reader: Reader<T>): void => {
    if (over?.failed === true) {
      reader.reject(over.error);
      // An error is told once; afterwards the pipe is simply at its end.
      over = { failed: false };
    } else reader.resolve({ done: true, value: undefined });
  };
  const close = (how: { readonly error?: unknown; readonly failed: boolean }): void => {
    if (over !== undefined) return;
    over = how;
    for (const reader of readers.splice(0)) finish(reader);
  };
  const pipe: Pipe<T> = {
    onTaken: undefined,
    get size() {
      return items.length - head;
    },
    push(item) {
      if (over !== undefined) return;
      const reader = readers.shift();
      if (reader === undefined) items.push(item);
      else reader.resolve({ done: false, value: item });
    },
    end: () => close({ failed: false }),
    fail: (error) => close({ error, failed: true }),
    next() {
      if (head < items.length) {
        const value = items[head] as T;
        head++;
        if (head > 64 && head * 2 > items.length) {
          items.splice(0, head);
          head = 0;
        }
        pipe.onTaken?.();
        return Promise.resolve({ done: false, value });
      }
      return new Promise((resolve, reject) => {
        const reader = { resolve, reject };
        if (over === undefined) readers.push(reader);
        else finish(reader);
      });
    },
    [Symbol.asyncIterator]: () => ({ next: () => pipe.next() }),
  };
  return pipe;
}
