/**
 * Lines as they are typed, also ahead of being asked for. Of several who wait, the last one gets the
 * next line: it has asked the question that a person sees.
 */
export class LineQueue {
  readonly #lines: string[] = [];
  #waiting: ((line: string | undefined) => void)[] = [];
  #ended = false;

  push(line: string): void {
    const waiting = this.#waiting.pop();
    if (waiting === undefined) this.#lines.push(line);
    else waiting(line);
  }

  end(): void {
    this.#ended = true;
    for (const waiting of this.#waiting.splice(0)) waiting(undefined);
  }

  /** The next line; undefined when there is none any more, or when the signal aborts. */
  next(signal?: AbortSignal): Promise<string | undefined> {
    const line = this.#lines.shift();
    return line === undefined ? this.fresh(signal) : Promise.resolve(line);
  }

  /** A line that is typed from now on; what was typed ahead stays where it is. */
  fresh(signal?: AbortSignal): Promise<string | undefined> {
    if (this.#ended || signal?.aborted === true) return Promise.resolve(undefined);
    return new Promise((resolve) => {
      this.#waiting.push(resolve);
      // A wait that is given up leaves the line that comes next to the next one who asks.
      const giveUp = (): void => {
        this.#waiting = this.#waiting.filter((one) => one !== resolve);
        resolve(undefined);
      };
      signal?.addEventListener('abort', giveUp, { once: true });
    });
  }
}
