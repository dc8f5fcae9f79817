import type { SafeError } from '../server.js';
import { limitsText, type MessageKind } from '../transport/rate-limit.js';
import { type SafeWords, safeError } from './safe-error.js';
import type { ConnectionTimeouts } from './timeouts.js';

/** What one server sent more than is taken, for as long as its connection is known. */
export class Excess {
  readonly #words: SafeWords;
  readonly #tell: (text: string) => void;
  readonly #counts: Record<MessageKind, number> = { requests: 0, notifications: 0 };
  #isTold = false;
  #cut: SafeError | undefined;

  constructor(words: SafeWords, tell: (text: string) => void) {
    this.#words = words;
    this.#tell = tell;
  }

  /** Set once it was let go of, until somebody wants it back. */
  get held(): SafeError | undefined {
    return this.#cut;
  }

  add(kind: MessageKind): void {
    this.#counts[kind] += 1;
    if (this.#isTold) return;
    this.#isTold = true;
    this.#tell(
      `MCP server "${this.#words.server}" sends more than is taken: above ${limitsText()}, its requests are refused and its notifications left out. /mcp shows how many; if it goes on, it is disconnected.`,
    );
  }

  /** It went on and on. Whoever was connecting it hears so; of others nobody would. */
  cut(why: string): SafeError {
    const remedy = `Look at what is wrong with it; /mcp reconnect ${this.#words.server} connects it anew.`;
    this.#cut = safeError(this.#words, 'protocol', `was disconnected: ${why}. ${remedy}`);
    return this.#cut;
  }

  forget(): void {
    this.#cut = undefined;
  }

  /** For people; empty where all was taken. */
  texts(): readonly string[] {
    const parts = (['requests', 'notifications'] as const)
      .filter((kind) => this.#counts[kind] > 0)
      .map((kind) => `${this.#counts[kind].toLocaleString('en-US')} of its ${kind}`);
    if (parts.length === 0) return [];
    return [`${parts.join(' and ')} were not handled: it sends more than is taken`];
  }
}

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
