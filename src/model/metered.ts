import type { Clock } from '../env/clock.js';
import type { Usage } from '../protocol/content.js';
import { ZERO_USAGE } from '../protocol/content.js';
import type { ModelClient } from './client.js';
import { mergeUsage } from './fold.js';

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
    async *stream(request, signal) {
      const started = parts.clock.monotonic();
      let counted: { model: string; usage: Usage } | undefined;
      const book = (): void => {
        if (counted !== undefined) parts.book(counted.model, counted.usage);
        counted = undefined;
      };
      try {
        for await (const event of client.stream(request, signal)) {
          if (event.type === 'message_start') {
            book();
            counted = {
              model: event.message.model,
              usage: mergeUsage(ZERO_USAGE, event.message.usage),
            };
          } else if (
            event.type === 'message_delta' &&
            event.usage !== undefined &&
            counted !== undefined
          ) {
            counted = { model: counted.model, usage: mergeUsage(counted.usage, event.usage) };
          } else if (event.type === 'message_stop') {
            book();
          }
          yield event;
        }
      } finally {
        book();
        elapsed += parts.clock.monotonic() - started;
      }
    },
  };
}
