import { limitsText } from '../transport/bounded.js';
import type { TrafficKind } from '../transport/traffic.js';
import type { SafeError } from './safe-error.js';
import { type SafeWords, safeError } from './safe-error-of.js';

/** What one server sent more than is taken, for as long as its connection is known. */
export class Excess {
  readonly #words: SafeWords;
  readonly #tell: (text: string) => void;
  readonly #counts: Record<TrafficKind, number> = { requests: 0, notes: 0 };
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

  add(kind: TrafficKind): void {
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
    const { requests, notes } = this.#counts;
    const parts = [
      ...(requests === 0 ? [] : [`${requests.toLocaleString('en-US')} of its requests`]),
      ...(notes === 0 ? [] : [`${notes.toLocaleString('en-US')} of its notifications`]),
    ];
    if (parts.length === 0) return [];
    return [`${parts.join(' and ')} were not handled: it sends more than is taken`];
  }
}
