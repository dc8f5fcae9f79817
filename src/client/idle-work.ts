import { PortcullisError } from '../errors.js';

/** What clients want done while no turn runs, in the order in which they asked. */
export class IdleWork {
  readonly #waiting: { start(): Promise<void>; cancel(): void }[] = [];
  #isOver = false;

  get size(): number {
    return this.#waiting.length;
  }

  /** Resolves with what the work gives; rejects where the session ends before. */
  push<T>(work: () => Promise<T>): Promise<T> {
    return new Promise((resolve, reject) => {
      const cancel = (): void => reject(new PortcullisError('session', 'the session has ended'));
      if (this.#isOver) cancel();
      else this.#waiting.push({ start: () => work().then(resolve, reject), cancel });
    });
  }

  next(): (() => Promise<void>) | undefined {
    return this.#waiting.shift()?.start;
  }

  close(): void {
    this.#isOver = true;
    for (const { cancel } of this.#waiting.splice(0)) cancel();
  }
}
