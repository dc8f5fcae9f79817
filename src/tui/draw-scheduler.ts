const FRAME_MS = 33;

/** Draws at most thirty times a second for what happens, at once for what is typed. */
export class DrawScheduler {
  readonly #draw: () => void;
  readonly #now: () => number;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #tick: ReturnType<typeof setTimeout> | undefined;
  #last = 0;

  constructor(draw: () => void, now: () => number) {
    this.#draw = draw;
    this.#now = now;
  }

  now(): void {
    this.close();
    this.#last = this.#now();
    this.#draw();
  }

  soon(): void {
    const wait = Math.max(0, this.#last + FRAME_MS - this.#now());
    this.#timer ??= setTimeout(() => this.now(), wait);
  }

  /** Once more after this time, whatever happens: a clock or a pause is on the screen. */
  after(ms: number): void {
    clearTimeout(this.#tick);
    this.#tick = setTimeout(() => this.now(), ms);
  }

  close(): void {
    clearTimeout(this.#timer);
    clearTimeout(this.#tick);
    this.#timer = undefined;
    this.#tick = undefined;
  }
}
