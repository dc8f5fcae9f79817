import { messageOf } from '../../errors.js';
import { orAbort } from '../../lib/abort.js';
import type { Clock } from '../../platform/clock.js';
import type { Usage } from '../../protocol/content.js';
import { ZERO_USAGE } from '../../protocol/content.js';
import type { ModelClient, ModelEvent } from '../client.js';
import { mergeUsage } from './accumulate.js';

export interface Meter {
  /** Milliseconds spent waiting for the model. */
  elapsedMs(): number;
}

/**
 * Counts every call of a client: answers, summaries and side jobs alike, and also calls that broke off
 * after the provider had begun to count. A budget that misses some would not hold.
 */
export function withUsageTracking(
  client: ModelClient,
  parts: {
    readonly clock: Pick<Clock, 'monotonic'>;
    recordUsage(model: string, usage: Usage): void;
    /**
     * The client is read no faster than its consumer reads: else this process would keep everything that the model
     * says. Undefined: the consumer is ready.
     */
    ready?: (() => Promise<void> | undefined) | undefined;
  },
): ModelClient & Meter {
  let elapsed = 0;
  return {
    provider: client.provider,
    elapsedMs: () => elapsed,
    async *stream(request, signal): AsyncGenerator<ModelEvent> {
      const started = parts.clock.monotonic();
      /** Undefined before an attempt has begun and after it was recorded. */
      let model: string | undefined;
      let usage: Usage = ZERO_USAGE;
      const record = (): void => {
        if (model !== undefined) parts.recordUsage(model, usage);
        model = undefined;
      };
      try {
        for await (const event of client.stream(request, signal)) {
          if (event.type === 'message_start') {
            record();
            model = event.message.model;
            usage = mergeUsage(ZERO_USAGE, event.message.usage);
          } else if (event.type === 'message_delta' && event.usage !== undefined) {
            usage = mergeUsage(usage, event.usage);
          } else if (event.type === 'message_stop') record();
          yield event;
          const behind = parts.ready?.();
          // The client itself reports an abort, as its last event.
          if (behind !== undefined && !signal.aborted)
            await orAbort(behind, signal).catch(() => undefined);
        }
      } finally {
        record();
        elapsed += parts.clock.monotonic() - started;
      }
    },
  };
}

/** Waits before each request until it may be sent: a rate that several processes share. */
export function withAdmission(
  client: ModelClient,
  admit: ((model: string) => Promise<void>) | undefined,
): ModelClient {
  if (admit === undefined) return client;
  return {
    provider: client.provider,
    async *stream(request, signal): AsyncGenerator<ModelEvent> {
      try {
        await orAbort(admit(request.model), signal);
      } catch (thrown) {
        // fail-closed: a request that was not admitted is not sent. The client itself reports an abort.
        if (!signal.aborted) {
          const message = messageOf(thrown);
          yield { type: 'failure', failure: { kind: 'aborted', message, retryable: false } };
          return;
        }
      }
      yield* client.stream(request, signal);
    },
  };
}
