/** Runs work one after the other, in the order of asking. */
export class Queue {
  #last: Promise<unknown> = Promise.resolve();

  /** A failure rejects only the promise of its own work, not the next one's. */
  add<T>(work: () => T | Promise<T>): Promise<T> {
    const mine = this.#last.then(work);
    this.#last = mine.catch(() => undefined);
    return mine;
  }

  /** Resolves when all that was asked for before is done. */
  async idle(): Promise<void> {
    await this.#last;
  }
}

/** A queue for each key; those of different keys do not wait for each other. */
export class KeyedQueue {
  readonly #queues = new Map<string, { readonly queue: Queue; waiting: number }>();

  async add<T>(key: string, work: () => T | Promise<T>): Promise<T> {
    const entry = this.#queues.get(key) ?? { queue: new Queue(), waiting: 0 };
    this.#queues.set(key, entry);
    entry.waiting++;
    try {
      return await entry.queue.add(work);
    } finally {
      if (--entry.waiting === 0) this.#queues.delete(key);
    }
  }
}
