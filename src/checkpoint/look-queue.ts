/**
 * Looks one after the other. Who asks while one is under way gets the next one, together with all
 * others who ask meanwhile: only a look that begins after the question can answer it.
 */
export class LookQueue {
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
