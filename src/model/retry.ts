import { abortableDelay } from '../util/abort.js';
import type { ModelClient, ModelEvent, ModelFailure, ModelRequest } from './client.js';
import { ABORTED } from './failures.js';

export interface RetryOptions {
  /** Default 10, at most 15. */
  readonly maxRetries?: number;
  /** Tried in order when the model itself is unavailable. Already resolved ids. */
  readonly fallbackModels?: readonly string[];
  /** Takes out of a failure what nobody may see. */
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
 * The same client, but failures that pass are tried again and a model that stays unavailable is
 * replaced. A stream that broke off in the middle is tried again too: the `retry` event tells readers
 * to forget what came before.
 */
export function withRetry(client: ModelClient, options: RetryOptions = {}): ModelClient {
  const maxRetries = clampRetries(options.maxRetries);

  async function* stream(request: ModelRequest, signal: AbortSignal): AsyncGenerator<ModelEvent> {
    const fallbacks = (options.fallbackModels ?? []).filter((model) => model !== request.model);
    let current = request;
    for (;;) {
      const failure = yield* attempts(client, current, { ...options, maxRetries, signal });
      if (failure === undefined) return;
      const next = FALL_BACK_ON.has(failure.kind) ? fallbacks.shift() : undefined;
      if (next === undefined) {
        yield { type: 'failure', failure };
        return;
      }
      yield { type: 'fallback', from: current.model, to: next, failure };
      current = { ...current, model: next };
    }
  }

  return { provider: client.provider, stream };
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

/** All attempts with one model. Returns the failure that is left, or undefined when it went well. */
async function* attempts(
  client: ModelClient,
  request: ModelRequest,
  options: RetryOptions & { readonly maxRetries: number; readonly signal: AbortSignal },
): AsyncGenerator<ModelEvent, ModelFailure | undefined> {
  const { signal, maxRetries } = options;
  for (let attempt = 1; ; attempt++) {
    const met = yield* oneAttempt(client, request, signal);
    if (met === undefined) return undefined;
    const failure = options.clean?.(met) ?? met;
    if (!failure.retryable || attempt > maxRetries) return failure;
    const delay = delayBefore(attempt, failure, options.random ?? Math.random);
    if (delay === undefined) return tooLongToWait(failure);
    yield { type: 'retry', attempt, maxRetries, delayMs: delay, failure };
    try {
      await (options.sleep ?? abortableDelay)(delay, signal);
    } catch {
      // The only reason for the wait to end early is the abort.
      return ABORTED;
    }
  }
}

async function* oneAttempt(
  client: ModelClient,
  request: ModelRequest,
  signal: AbortSignal,
): AsyncGenerator<ModelEvent, ModelFailure | undefined> {
  for await (const event of client.stream(request, signal)) {
    if (event.type === 'failure') return event.failure;
    yield event;
    if (event.type === 'message_stop') return undefined;
  }
  return { kind: 'connection', message: 'the client ended without an answer', retryable: true };
}

function delayBefore(
  attempt: number,
  failure: ModelFailure,
  random: () => number,
): number | undefined {
  const asked = failure.retryAfterMs;
  if (asked !== undefined && asked > LONGEST_RETRY_AFTER_MS) return undefined;
  const base = Math.min(LONGEST_DELAY_MS, FIRST_DELAY_MS * 2 ** (attempt - 1));
  const jittered = Math.round(base * (0.75 + random() * 0.25));
  return asked === undefined ? jittered : Math.max(asked, Math.min(jittered, FIRST_DELAY_MS));
}

function tooLongToWait(failure: ModelFailure): ModelFailure {
  const seconds = Math.ceil((failure.retryAfterMs ?? 0) / 1000);
  return {
    ...failure,
    retryable: false,
    remedy: `The server asks for a pause of ${seconds} s. Try again then, or choose another model.`,
  };
}
