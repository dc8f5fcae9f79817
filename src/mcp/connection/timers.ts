export interface CallTimerOptions {
  readonly totalMs: number;
  readonly idleMs: number;
  readonly stillRunningMs: number;
  readonly monotonic: () => number;
  readonly onExpire: (limit: 'total' | 'idle') => void;
  /** The server has been silent for a while, once more. */
  readonly onStillRunning: (seconds: number) => void;
}

/** The two limits of one call on one timer. While a person is asked, neither runs. */
export class CallTimers {
  readonly #options: CallTimerOptions;
  #timer: NodeJS.Timeout | undefined;
  #startedAt: number;
  #heardAt: number;
  #toldAt: number;
  #pausedAt: number | undefined;

  constructor(options: CallTimerOptions) {
    this.#options = options;
    const now = options.monotonic();
    this.#startedAt = now;
    this.#heardAt = now;
    this.#toldAt = now;
    this.#arm(now);
  }

  /** The server gave a sign of life. */
  heard(): void {
    this.#heardAt = this.#options.monotonic();
    this.#toldAt = this.#heardAt;
  }

  pause(): void {
    if (this.#pausedAt !== undefined) return;
    this.#pausedAt = this.#options.monotonic();
    clearTimeout(this.#timer);
  }

  resume(): void {
    if (this.#pausedAt === undefined) return;
    const now = this.#options.monotonic();
    const pausedMs = now - this.#pausedAt;
    this.#pausedAt = undefined;
    this.#startedAt += pausedMs;
    this.#heardAt += pausedMs;
    this.#toldAt += pausedMs;
    this.#arm(now);
  }

  stop(): void {
    clearTimeout(this.#timer);
    // A late resume must not arm it again.
    this.#pausedAt = undefined;
  }

  #arm(now: number): void {
    const { totalMs, idleMs, stillRunningMs } = this.#options;
    const next = Math.min(
      this.#startedAt + totalMs,
      this.#heardAt + idleMs,
      this.#toldAt + stillRunningMs,
    );
    this.#timer = setTimeout(() => this.#look(), Math.max(1, next - now));
  }

  #look(): void {
    const { totalMs, idleMs, stillRunningMs, monotonic, onExpire, onStillRunning } = this.#options;
    const now = monotonic();
    if (now >= this.#startedAt + totalMs) {
      onExpire('total');
      return;
    }
    if (now >= this.#heardAt + idleMs) {
      onExpire('idle');
      return;
    }
    if (now >= this.#toldAt + stillRunningMs) {
      this.#toldAt = now;
      onStillRunning(Math.round((now - this.#startedAt) / 1000));
    }
    this.#arm(now);
  }
}
