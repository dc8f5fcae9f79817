import type { Clock } from '../env/clock.js';
import type { ModelClient } from './client.js';

/** The same client, with the time that was spent waiting for it. */
export function timed(
  client: ModelClient,
  clock: Pick<Clock, 'monotonic'>,
): ModelClient & { elapsedMs(): number } {
  let elapsed = 0;
  return {
    provider: client.provider,
    elapsedMs: () => elapsed,
    async *stream(request, signal) {
      const started = clock.monotonic();
      try {
        yield* client.stream(request, signal);
      } finally {
        elapsed += clock.monotonic() - started;
      }
    },
  };
}
