/**
 * Scans one after the other. A request that arrives while a scan runs is answered by the next scan, together with
 * all other requests of that time: only a scan that begins after a request can answer it.
 */
export class ScanQueue {
  readonly #look: () => Promise<void>;
  #running: Promise<void> | undefined;
  #next: Promise<void> | undefined;

  /** `look` must not reject. */
  constructor(look: () => Promise<void>) {
    this.#look = look;
  }

  request(): Promise<void> {
    if (this.#next !== undefined) return this.#next;
    if (this.#running === undefined) return this.#start();
    this.#next = this.#running.then(() => {
      this.#next = undefined;
      return this.#start();
    });
    return this.#next;
  }

  get isBusy(): boolean {
    return this.#running !== undefined || this.#next !== undefined;
  }

  /** Resolves when nothing that was asked for so far is under way. */
  async idle(): Promise<void> {
    await (this.#next ?? this.#running);
  }

  #start(): Promise<void> {
    const running = this.#look().finally(() => {
      if (this.#running === running) this.#running = undefined;
    });
    this.#running = running;
    return running;
  }
}
