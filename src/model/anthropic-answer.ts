import type { HttpResponse } from '../env/http.js';
import { AnthropicEvents } from './anthropic-events.js';
import { type Bunches, isLast, OVER } from './bunched.js';
import type { ModelEvent, ModelFailure } from './client.js';
import { ABORTED, type FailureContext, failureOfStatus, failureOfTransport } from './failures.js';
import { FINISH_GRACE_MS, readAll } from './http-reading.js';

interface AnswerParts {
  /** Sends the request. */
  send(): Promise<HttpResponse>;
  readonly model: string;
  readonly signal: AbortSignal;
  readonly context: FailureContext;
}

type Bunch = IteratorResult<readonly ModelEvent[]>;

/** An answer whose body is being read. */
interface Reading {
  readonly response: HttpResponse;
  readonly chunks: AsyncIterator<string>;
  readonly events: AnthropicEvents;
  readonly requestId: string | undefined;
}

/**
 * What the Messages API answers to one request, which is sent when the first bunch is asked for. By hand
 * and not a generator, as in watched.ts.
 */
export class AnthropicAnswer implements Bunches {
  readonly #parts: AnswerParts;
  #reading: Reading | undefined;
  #isOver = false;

  constructor(parts: AnswerParts) {
    this.#parts = parts;
  }

  get isOver(): boolean {
    return this.#isOver;
  }

  async next(): Promise<Bunch> {
    if (this.#isOver) return OVER;
    try {
      if (this.#reading === undefined) {
        const response = await this.#parts.send();
        if (response.status < 200 || response.status > 299) return await this.#refused(response);
        this.#reading = this.#readingOf(response);
        // Whoever left meanwhile reads nothing of it.
        if (this.#isOver) return await this.#leave();
      }
      const { chunks, events, response } = this.#reading;
      let piece = response.take?.();
      if (piece === undefined) {
        const next = await chunks.next();
        if (next.done === true) return this.#last([...events.end()]);
        piece = next.value;
      }
      const bunch = events.push(piece);
      const last = bunch.at(-1);
      if (!isLast(last)) return { value: bunch, done: false };
      // Whoever reads this reads no further: that the body ends is waited for beside it.
      if (last?.type === 'message_stop') response.finish(FINISH_GRACE_MS);
      else await this.#leave();
      return this.#last(bunch);
    } catch (thrown) {
      await this.#leave();
      return this.#last([{ type: 'failure', failure: this.#broken(thrown) }]);
    }
  }

  return(): Promise<Bunch> {
    if (this.#isOver) return Promise.resolve(OVER);
    this.#isOver = true;
    return this.#leave();
  }

  #readingOf(response: HttpResponse): Reading {
    const { context, model } = this.#parts;
    const requestId = response.headers['request-id'];
    return {
      response,
      chunks: response.chunks[Symbol.asyncIterator](),
      events: new AnthropicEvents({ context, model, requestId }),
      requestId,
    };
  }

  /** A body that is left in its middle is not waited for. */
  async #leave(): Promise<Bunch> {
    await this.#reading?.chunks.return?.();
    return OVER;
  }

  async #refused(response: HttpResponse): Promise<Bunch> {
    const { model, context } = this.#parts;
    const body = await readAll(response.chunks);
    const refusal = { ...response, body, model, now: Date.now() };
    return this.#last([{ type: 'failure', failure: failureOfStatus(refusal, context) }]);
  }

  #broken(thrown: unknown): ModelFailure {
    const { signal, context } = this.#parts;
    const failure = signal.aborted ? ABORTED : failureOfTransport(thrown, context);
    const requestId = this.#reading?.requestId;
    return requestId === undefined ? failure : { ...failure, requestId };
  }

  #last(bunch: readonly ModelEvent[]): Bunch {
    this.#isOver = true;
    return { value: bunch, done: false };
  }
}
