import type { ConnectionTimeouts } from './timeouts.js';

interface BackoffOptions
  extends Pick<ConnectionTimeouts, 'backoffMs' | 'maxBackoffMs' | 'stableMs'> {
  readonly monotonic: () => number;
}

/**
 * Delays restarts of a server that keeps failing: the first restart is immediate, each later one waits twice
 * as long as the one before.
 */
export class Backoff {
  readonly #options: BackoffOptions;
  #failures = 0;
  #until = Number.NEGATIVE_INFINITY;

  constructor(options: BackoffOptions) {
    this.#options = options;
  }

  /** Records that the server ended after `livedMs` or failed to start. */
  ended(livedMs: number): void {
    const { backoffMs, maxBackoffMs, stableMs, monotonic } = this.#options;
    if (livedMs >= stableMs) this.#failures = 0;
    this.#failures += 1;
    if (this.#failures < 2) return;
    this.#until = monotonic() + Math.min(backoffMs * 2 ** (this.#failures - 2), maxBackoffMs);
  }

  /** Milliseconds until the next start is allowed. */
  waitMs(): number {
    return Math.max(0, this.#until - this.#options.monotonic());
  }

  reset(): void {
    this.#failures = 0;
    this.#until = Number.NEGATIVE_INFINITY;
  }
}
