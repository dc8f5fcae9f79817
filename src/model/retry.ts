import { abortableDelay } from '../util/abort.js';
import { OVER } from './bunched.js';
import {
  type ModelClient,
  type ModelEvent,
  type ModelFailure,
  type ModelRequest,
  type ReadyEvents,
  takeEnd,
  takeReady,
  whenReady,
} from './client.js';
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
  const rules: RetryRules = {
    ...options,
    maxRetries: clampRetries(options.maxRetries),
    fallbackModels: options.fallbackModels ?? [],
    sleep: options.sleep ?? abortableDelay,
  };
  return {
    provider: client.provider,
    stream: (request, signal) => new RetriedEvents(client, request, { rules, signal }),
  };
}

type RetryRules = RetryOptions &
  Required<Pick<RetryOptions, 'maxRetries' | 'fallbackModels' | 'sleep'>>;

/** The events of all attempts. By hand and not a generator, as in watched.ts: most are only passed on. */
class RetriedEvents implements ReadyEvents {
  readonly #client: ModelClient;
  readonly #rules: RetryRules;
  readonly #signal: AbortSignal;
  readonly #fallbacks: string[];
  #request: ModelRequest;
  #attempt = 1;
  /** Of the attempt under way. */
  #events: AsyncIterator<ModelEvent> | undefined;
  /** Before the next attempt. */
  #pauseMs: number | undefined;
  #isOver = false;

  constructor(
    client: ModelClient,
    request: ModelRequest,
    { rules, signal }: { readonly rules: RetryRules; readonly signal: AbortSignal },
  ) {
    this.#client = client;
    this.#rules = rules;
    this.#signal = signal;
    this.#request = request;
    this.#fallbacks = rules.fallbackModels.filter((model) => model !== request.model);
  }

  next(): Promise<IteratorResult<ModelEvent>> {
    if (this.#isOver) return this.return();
    if (this.#events !== undefined)
      return this.#events.next().then((result) => this.#passed(result));
    return this.#pauseMs === undefined ? this.#begin() : this.#beginAfter(this.#pauseMs);
  }

  takeReady(): readonly ModelEvent[] | undefined {
    const ready = this.#events === undefined ? undefined : takeReady(this.#events);
    if (ready?.at(-1)?.type === 'message_stop') this.#isOver = true;
    return ready;
  }

  whenReady(): Promise<unknown> | undefined {
    // A pause is for `next()` to wait for.
    if (this.#isOver || (this.#events === undefined && this.#pauseMs !== undefined))
      return undefined;
    this.#events ??= this.#attemptEvents();
    return whenReady(this.#events);
  }

  takeEnd(): boolean {
    if (!this.#isOver || (this.#events !== undefined && !takeEnd(this.#events))) return false;
    this.#events = undefined;
    return true;
  }

  return(): Promise<IteratorResult<ModelEvent>> {
    this.#isOver = true;
    return this.#leaveAttempt().then(over);
  }

  [Symbol.asyncIterator](): ReadyEvents {
    return this;
  }

  async #beginAfter(pauseMs: number): Promise<IteratorResult<ModelEvent>> {
    try {
      await this.#rules.sleep(pauseMs, this.#signal);
    } catch {
      // The only reason for the wait to end early is the abort.
      return this.#last(ABORTED);
    }
    // Whoever left meanwhile wants no further attempt.
    return this.#isOver ? OVER : this.#begin();
  }

  async #begin(): Promise<IteratorResult<ModelEvent>> {
    const events = this.#attemptEvents();
    this.#events = events;
    return this.#passed(await events.next());
  }

  #attemptEvents(): AsyncIterator<ModelEvent> {
    return this.#client.stream(this.#request, this.#signal)[Symbol.asyncIterator]();
  }

  #passed(
    result: IteratorResult<ModelEvent>,
  ): IteratorResult<ModelEvent> | Promise<IteratorResult<ModelEvent>> {
    if (result.done === true) return this.#failed(ENDED_EARLY);
    if (result.value.type === 'failure') return this.#failed(result.value.failure);
    if (result.value.type === 'message_stop') this.#isOver = true;
    return result;
  }

  async #failed(met: ModelFailure): Promise<IteratorResult<ModelEvent>> {
    await this.#leaveAttempt();
    const failure = this.#rules.clean?.(met) ?? met;
    const { maxRetries } = this.#rules;
    const next = afterFailure(failure, this.#attempt, this.#rules);
    if (next.kind === 'retry') {
      const { delayMs } = next;
      this.#pauseMs = delayMs;
      const attempt = this.#attempt++;
      return { value: { type: 'retry', attempt, maxRetries, delayMs, failure }, done: false };
    }
    const to = FALL_BACK_ON.has(next.failure.kind) ? this.#fallbacks.shift() : undefined;
    if (to === undefined) return this.#last(next.failure);
    const from = this.#request.model;
    this.#request = { ...this.#request, model: to };
    this.#attempt = 1;
    this.#pauseMs = undefined;
    return { value: { type: 'fallback', from, to, failure: next.failure }, done: false };
  }

  #last(failure: ModelFailure): IteratorResult<ModelEvent> {
    this.#isOver = true;
    return { value: { type: 'failure', failure }, done: false };
  }

  #leaveAttempt(): Promise<unknown> {
    const events = this.#events;
    this.#events = undefined;
    return events?.return?.() ?? Promise.resolve();
  }
}

function over(): IteratorResult<ModelEvent> {
  return OVER;
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

/** Whether the same model is asked again, and when. */
function afterFailure(
  failure: ModelFailure,
  attempt: number,
  { maxRetries, random = Math.random }: RetryOptions & { readonly maxRetries: number },
):
  | { readonly kind: 'retry'; readonly delayMs: number }
  | { readonly kind: 'give-up'; readonly failure: ModelFailure } {
  if (!failure.retryable || attempt > maxRetries) return { kind: 'give-up', failure };
  const delayMs = delayBefore(attempt, failure, random);
  if (delayMs === undefined) return { kind: 'give-up', failure: tooLongToWait(failure) };
  return { kind: 'retry', delayMs };
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
