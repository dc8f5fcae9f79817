import { abortableDelay } from '../../platform/turns.js';
import type { ModelClient, ModelEvent, ModelFailure } from '../client.js';
import { ABORTED } from '../failures.js';

export interface RetryOptions {
  /** Default 10, at most 15. */
  readonly maxRetries?: number | undefined;
  /** Tried in order when the model itself is unavailable. Already resolved ids. */
  readonly fallbackModels?: readonly string[] | undefined;
  /** Removes secrets from a failure. */
  readonly clean?: (failure: ModelFailure) => ModelFailure;
  /** Between 0 and 1. */
  readonly random?: () => number;
  /** Rejects when the signal aborts. */
  readonly sleep?: (ms: number, signal: AbortSignal) => Promise<void>;
}

const DEFAULT_MAX_RETRIES = 10;
const HIGHEST_MAX_RETRIES = 15;
const FIRST_DELAY_MS = 500;
const LONGEST_DELAY_MS = 32_000;
/** A server that asks for more is not going to answer this run. */
const LONGEST_RETRY_AFTER_MS = 60_000;

const FALL_BACK_ON: ReadonlySet<ModelFailure['kind']> = new Set([
  'overloaded',
  'rate_limit',
  'server',
  'model_not_found',
]);

/**
 * Repeats requests that failed for a passing reason and replaces a model that stays unavailable. A stream that
 * broke off in the middle is repeated too: the `retry` event tells readers to forget what came before.
 */
export function withRetry(client: ModelClient, options: RetryOptions = {}): ModelClient {
  const maxRetries = clampRetries(options.maxRetries);
  const { sleep = abortableDelay, random = Math.random } = options;
  return {
    provider: client.provider,
    async *stream(request, signal): AsyncGenerator<ModelEvent> {
      let { model } = request;
      const fallbacks = (options.fallbackModels ?? []).filter((other) => other !== model);
      for (let attempt = 1; ; attempt++) {
        const met = yield* attemptEvents(client.stream({ ...request, model }, signal));
        if (met === undefined) return;
        const failure = options.clean?.(met) ?? met;
        const delayMs = attempt > maxRetries ? undefined : delayBefore(attempt, failure, random);
        if (delayMs !== undefined) {
          yield { type: 'retry', attempt, maxRetries, delayMs, failure };
          try {
            await sleep(delayMs, signal);
          } catch {
            // Only an abort ends the wait early.
            yield { type: 'failure', failure: ABORTED };
            return;
          }
          continue;
        }
        const last = asksTooLong(failure) ? tooLongToWait(failure) : failure;
        const to = FALL_BACK_ON.has(last.kind) ? fallbacks.shift() : undefined;
        if (to === undefined) {
          yield { type: 'failure', failure: last };
          return;
        }
        yield { type: 'fallback', from: model, to, failure: last };
        model = to;
        attempt = 0;
      }
    },
  };
}

/** Passes the events of one attempt on. Returns its failure, or undefined after a complete answer. */
async function* attemptEvents(
  events: AsyncIterable<ModelEvent>,
): AsyncGenerator<ModelEvent, ModelFailure | undefined> {
  for await (const event of events) {
    if (event.type === 'failure') return event.failure;
    yield event;
    if (event.type === 'message_stop') return undefined;
  }
  return ENDED_EARLY;
}

/** CLAUDE_CODE_MAX_RETRIES, or undefined when it is not set or not a number. */
export function maxRetriesFrom(
  environment: Readonly<Record<string, string | undefined>>,
): number | undefined {
  const text = environment.CLAUDE_CODE_MAX_RETRIES?.trim();
  return text !== undefined && /^\d+$/.test(text) ? clampRetries(Number(text)) : undefined;
}

function clampRetries(wanted: number | undefined): number {
  if (wanted === undefined || Number.isNaN(wanted)) return DEFAULT_MAX_RETRIES;
  return Math.min(HIGHEST_MAX_RETRIES, Math.max(0, Math.floor(wanted)));
}

const ENDED_EARLY: ModelFailure = {
  kind: 'connection',
  message: 'the client ended without an answer',
  retryable: true,
};

/** How long to wait before the same model is asked again; undefined: it is not. */
function delayBefore(
  attempt: number,
  failure: ModelFailure,
  random: () => number,
): number | undefined {
  if (!failure.retryable || asksTooLong(failure)) return undefined;
  const base = Math.min(LONGEST_DELAY_MS, FIRST_DELAY_MS * 2 ** (attempt - 1));
  const jittered = Math.round(base * (0.75 + random() * 0.25));
  const asked = failure.retryAfterMs;
  return asked === undefined ? jittered : Math.max(asked, Math.min(jittered, FIRST_DELAY_MS));
}

function asksTooLong({ retryable, retryAfterMs = 0 }: ModelFailure): boolean {
  return retryable && retryAfterMs > LONGEST_RETRY_AFTER_MS;
}

function tooLongToWait(failure: ModelFailure): ModelFailure {
  const seconds = Math.ceil((failure.retryAfterMs ?? 0) / 1000);
  return {
    ...failure,
    retryable: false,
    remedy: `The server asks for a pause of ${seconds} s. Try again then, or choose another model.`,
  };
}
