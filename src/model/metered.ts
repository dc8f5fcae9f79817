import type { Clock } from '../env/clock.js';
import type { Usage } from '../protocol/content.js';
import { ZERO_USAGE } from '../protocol/content.js';
import type { ModelClient, ModelEvent } from './client.js';
import { mergeUsage } from './fold.js';
import { watched } from './watched.js';

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
      const count = createCount(parts.book);
      return watched(client.stream(request, signal), {
        saw: count.saw,
        over() {
          count.book();
          elapsed += parts.clock.monotonic() - started;
        },
      });
    },
  };
}

/** What one call takes, attempt by attempt. */
function createCount(book: (model: string, usage: Usage) => void) {
  let counted: { readonly model: string; usage: Usage } | undefined;
  const bookAttempt = (): void => {
    if (counted !== undefined) book(counted.model, counted.usage);
    counted = undefined;
  };
  return {
    book: bookAttempt,
    saw(event: ModelEvent): void {
      if (event.type === 'message_start') {
        bookAttempt();
        const { model, usage } = event.message;
        counted = { model, usage: mergeUsage(ZERO_USAGE, usage) };
      } else if (event.type === 'message_delta') {
        if (event.usage !== undefined && counted !== undefined) {
          counted.usage = mergeUsage(counted.usage, event.usage);
        }
      } else if (event.type === 'message_stop') {
        bookAttempt();
      }
    },
  };
}
