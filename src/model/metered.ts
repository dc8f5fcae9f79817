import type { Clock } from '../env/clock.js';
import type { Usage } from '../protocol/content.js';
import { ZERO_USAGE } from '../protocol/content.js';
import type { ModelClient, ModelEvent } from './client.js';
import { mergeUsage } from './fold.js';
import { type Watcher, watched } from './watched.js';

export interface Meter {
  /** Milliseconds spent waiting for the model. */
  elapsedMs(): number;
}

/**
 * The same client, with every call counted: answers, summaries and side jobs alike, and also calls
 * that broke off after the provider had begun to count. A budget that misses some would not hold.
 */
export function metered(
  client: ModelClient,
  parts: {
    readonly clock: Pick<Clock, 'monotonic'>;
    book(model: string, usage: Usage): void;
  },
): ModelClient & Meter {
  let elapsed = 0;
  return {
    provider: client.provider,
    elapsedMs: () => elapsed,
    stream(request, signal) {
      const started = parts.clock.monotonic();
      const count = new CallCount(parts.book, () => {
        elapsed += parts.clock.monotonic() - started;
      });
      return watched(client.stream(request, signal), count);
    },
  };
}

/** What one call takes, attempt by attempt. */
class CallCount implements Watcher {
  readonly #book: (model: string, usage: Usage) => void;
  readonly #ended: () => void;
  #model: string | undefined;
  #usage: Usage = ZERO_USAGE;

  constructor(book: (model: string, usage: Usage) => void, ended: () => void) {
    this.#book = book;
    this.#ended = ended;
  }

  saw(event: ModelEvent): void {
    if (event.type === 'message_start') {
      this.#bookAttempt();
      this.#model = event.message.model;
      this.#usage = mergeUsage(ZERO_USAGE, event.message.usage);
    } else if (event.type === 'message_delta') {
      if (event.usage !== undefined) this.#usage = mergeUsage(this.#usage, event.usage);
    } else if (event.type === 'message_stop') {
      this.#bookAttempt();
    }
  }

  over(): void {
    this.#bookAttempt();
    this.#ended();
  }

  /** Nothing counts before an attempt has begun. */
  #bookAttempt(): void {
    const model = this.#model;
    this.#model = undefined;
    if (model !== undefined) this.#book(model, this.#usage);
  }
}
