/** Long enough for the next call of a quick model to share the look, too short to miss what a person edits. */
const SOON_MS = 15;

/**
 * Scans one after the other. A request that arrives while a scan runs is answered by the next scan, together with
 * all other requests of that time: only a scan that begins after a request can answer it.
 */
export class ScanQueue {
  readonly #look: () => Promise<void>;
  #running: Promise<void> | undefined;
  #next: Promise<void> | undefined;
  #soon: NodeJS.Timeout | undefined;

  /** `look` must not reject. */
  constructor(look: () => Promise<void>) {
    this.#look = look;
  }

  request(): Promise<void> {
    clearTimeout(this.#soon);
    this.#soon = undefined;
    if (this.#next !== undefined) return this.#next;
    if (this.#running === undefined) return this.#start();
    this.#next = this.#running.then(() => {
      this.#next = undefined;
      return this.#start();
    });
    return this.#next;
  }

  /** Asks for a scan that may wait a moment, so that a request right after this one shares it. */
  requestSoon(): void {
    this.#soon ??= setTimeout(() => void this.request(), SOON_MS);
  }

  get isBusy(): boolean {
    return this.#running !== undefined || this.#next !== undefined || this.#soon !== undefined;
  }

  /** Resolves when nothing that was asked for so far is under way. */
  async idle(): Promise<void> {
    await (this.#soon === undefined ? (this.#next ?? this.#running) : this.request());
  }

  #start(): Promise<void> {
    const running = this.#look().finally(() => {
      if (this.#running === running) this.#running = undefined;
    });
    this.#running = running;
    return running;
  }
}
