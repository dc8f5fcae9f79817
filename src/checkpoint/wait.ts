/** Whether a promise was fulfilled in time. It must not reject. */
export async function within(promise: Promise<unknown>, ms: number): Promise<boolean> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const late = new Promise<false>((resolve) => {
    timer = setTimeout(() => resolve(false), Math.max(0, ms));
  });
  try {
    return await Promise.race([promise.then(() => true as const), late]);
  } finally {
    clearTimeout(timer);
  }
}

/** One after the other, in the order of asking. */
export class Mutex {
  #last: Promise<unknown> = Promise.resolve();

  /** Resolves when all who asked before are through. */
  async passed(): Promise<void> {
    await this.#last;
  }

  enter<T>(work: () => Promise<T>): Promise<T> {
    const mine = this.#last.then(work);
    // The failure is told to whoever asked, not to the next one.
    this.#last = mine.catch(() => undefined);
    return mine;
  }
}
