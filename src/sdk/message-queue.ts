interface Reader<T> {
  resolve(result: IteratorResult<T, undefined>): void;
  reject(error: unknown): void;
}

/** Messages that the session writes and the program reads, in order. */
export class MessageQueue<T> {
  /** Called with every message that the program reads, just before it gets it. */
  onTaken: ((message: T) => void) | undefined;
  readonly #waiting: T[] = [];
  readonly #readers: Reader<T>[] = [];
  #over: { readonly error?: unknown } | undefined;

  get size(): number {
    return this.#waiting.length;
  }

  push(message: T): void {
    if (this.#over !== undefined) return;
    this.#waiting.push(message);
    const reader = this.#readers.shift();
    if (reader !== undefined) this.#serve(reader);
  }

  /** No more comes; waiting messages are still read, and then this error where there is one. */
  end(error?: unknown): void {
    if (this.#over !== undefined) return;
    this.#over = { error };
    for (const reader of this.#readers.splice(0)) this.#serve(reader);
  }

  next(): Promise<IteratorResult<T, undefined>> {
    return new Promise((resolve, reject) => this.#serve({ resolve, reject }));
  }

  #serve(reader: Reader<T>): void {
    const [message] = this.#waiting.splice(0, 1);
    if (message !== undefined) {
      this.onTaken?.(message);
      reader.resolve({ done: false, value: message });
    } else if (this.#over === undefined) this.#readers.push(reader);
    else {
      const { error } = this.#over;
      // An error is thrown once; afterwards the queue is simply at its end.
      this.#over = {};
      if (error === undefined) reader.resolve({ done: true, value: undefined });
      else reader.reject(error);
    }
  }
}
