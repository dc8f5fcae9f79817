import type { ConnectionTimeouts } from './timeouts.js';

interface BackoffOptions
  extends Pick<ConnectionTimeouts, 'backoffMs' | 'maxBackoffMs' | 'stableMs'> {
  readonly monotonic: () => number;
}

/**
 * Keeps a server that ends again and again from being started for every call. The first restart is
 * free; after that each one has to wait twice as long as the one before.
 */
export class Backoff {
  readonly #options: BackoffOptions;
  #failures = 0;
  #until = Number.NEGATIVE_INFINITY;

  constructor(options: BackoffOptions) {
    this.#options = options;
  }

  /** It ended, or did not come up, after it had lived for so long. */
  ended(livedMs: number): void {
    const { backoffMs, maxBackoffMs, stableMs, monotonic } = this.#options;
    if (livedMs >= stableMs) this.#failures = 0;
    this.#failures += 1;
    if (this.#failures < 2) return;
    this.#until = monotonic() + Math.min(backoffMs * 2 ** (this.#failures - 2), maxBackoffMs);
  }

  /** Milliseconds until it may be started; 0 when it may now. */
  waitMs(): number {
    return Math.max(0, this.#until - this.#options.monotonic());
  }

  reset(): void {
    this.#failures = 0;
    this.#until = Number.NEGATIVE_INFINITY;
  }
}
