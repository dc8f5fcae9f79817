import { describe, expect, it } from 'vitest';
import { oneByOne } from './bunched.js';
import {
  type ModelClient,
  type ModelEvent,
  type ModelFailure,
  type ModelRequest,
  takeEnd,
  takeReady,
  whenReady,
} from './client.js';
import { maxRetriesFrom, type RetryOptions, withRetry } from './retry.js';

const request: ModelRequest = { model: 'a', system: [], tools: [], messages: [], maxTokens: 10 };
const START: ModelEvent = { type: 'message_start', message: { id: '1', model: 'a', usage: {} } };
const overloaded: ModelFailure = { kind: 'overloaded', message: 'busy', retryable: true };

/** Plays one list of outcomes: a failure, or undefined for a good answer. */
function client(outcomes: readonly (ModelFailure | undefined)[]) {
  const models: string[] = [];
  const inner: ModelClient = {
    provider: 'test',
    async *stream(asked) {
      const failure = outcomes[models.length];
      models.push(asked.model);
      yield { type: 'message_start', message: { id: '1', model: asked.model, usage: {} } };
      yield failure === undefined ? { type: 'message_stop' } : { type: 'failure', failure };
    },
  };
  return { inner, models };
}

async function run(
  outcomes: readonly (ModelFailure | undefined)[],
  options: RetryOptions = {},
  signal = new AbortController().signal,
) {
  const slept: number[] = [];
  const { inner, models } = client(outcomes);
  const sleep = async (ms: number) => void slept.push(ms);
  const retrying = withRetry(inner, { random: () => 1, sleep, ...options });
  const events: ModelEvent[] = [];
  for await (const event of retrying.stream(request, signal)) {
    if (event.type !== 'message_start') events.push(event);
  }
  return { events, slept, models };
}

describe('withRetry', () => {
  it('passes a good answer through', async () => {
    expect((await run([undefined])).events).toEqual([{ type: 'message_stop' }]);
  });

  it('passes on what is there already, and leaves the attempt behind its end', async () => {
    let left = 0;
    async function* bunches(failed: boolean): AsyncGenerator<readonly ModelEvent[]> {
      try {
        yield failed
          ? [START, { type: 'failure', failure: overloaded }]
          : [START, { type: 'ping' }, { type: 'message_stop' }];
      } finally {
        left++;
      }
    }
    const attempts = [true, false];
    const inner: ModelClient = {
      provider: 'test',
      stream: (_request, signal) => oneByOne(bunches(attempts.shift() === true), signal),
    };
    const { signal } = new AbortController();
    const events = withRetry(inner, { sleep: async () => undefined }).stream(request, signal);
    const seen: string[] = [];
    const iterator = events[Symbol.asyncIterator]();
    for (;;) {
      const result = await iterator.next();
      if (result.done === true) break;
      seen.push(`waited ${result.value.type}`);
      for (const event of takeReady(iterator) ?? []) seen.push(event.type);
    }
    expect(seen).toEqual([
      'waited message_start',
      'waited retry',
      'waited message_start',
      'ping',
      'message_stop',
    ]);
    expect(left).toBe(2);
  });

  it('passes on that something has come, and that all is over, attempt after attempt', async () => {
    const outcomes: ModelEvent[] = [
      { type: 'failure', failure: overloaded },
      { type: 'failure', failure: { ...overloaded, retryable: false } },
      { type: 'message_stop' },
    ];
    async function* bunch(last: ModelEvent): AsyncGenerator<readonly ModelEvent[]> {
      yield [START, last];
    }
    const slept: number[] = [];
    const asked: string[] = [];
    const inner: ModelClient = {
      provider: 'test',
      stream({ model }, signal) {
        const last = outcomes[asked.push(model) - 1] ?? { type: 'message_stop' };
        return oneByOne(Object.assign(bunch(last), { isOver: true }), signal);
      },
    };
    const retrying = withRetry(inner, {
      random: () => 1,
      sleep: async (ms) => void slept.push(ms),
      fallbackModels: ['b'],
    });
    const iterator = retrying.stream(request, new AbortController().signal)[Symbol.asyncIterator]();
    const seen: string[] = [];
    for (;;) {
      await whenReady(iterator);
      for (const event of takeReady(iterator) ?? []) seen.push(event.type);
      if (takeEnd(iterator)) break;
      const result = await iterator.next();
      if (result.done === true) throw new Error('it was over before');
      seen.push(`waited ${result.value.type}`);
    }
    expect(seen).toEqual([
      'message_start',
      'waited retry',
      'waited message_start',
      'waited fallback',
      'message_start',
      'message_stop',
    ]);
    expect([asked, slept]).toEqual([['a', 'a', 'b'], [500]]);
    expect(whenReady(iterator)).toBeUndefined();
    expect(await iterator.next()).toEqual({ value: undefined, done: true });
  });

  it('doubles the pause from half a second to 32 s and gives up after ten retries', async () => {
    const { events, slept } = await run(Array(20).fill(overloaded));
    expect(slept).toEqual([500, 1000, 2000, 4000, 8000, 16000, 32000, 32000, 32000, 32000]);
    expect(events.at(-1)).toEqual({ type: 'failure', failure: overloaded });
    expect(events[0]).toEqual({
      type: 'retry',
      attempt: 1,
      maxRetries: 10,
      delayMs: 500,
      failure: overloaded,
    });
  });

  it('shortens the pause by at most a quarter', async () => {
    expect((await run([overloaded, undefined], { random: () => 0 })).slept).toEqual([375]);
  });

  it('honours retry-after up to a minute', async () => {
    const asked = { ...overloaded, retryAfterMs: 60_000 };
    expect((await run([asked, undefined])).slept).toEqual([60_000]);
    const { events, slept } = await run([{ ...overloaded, retryAfterMs: 61_000 }]);
    expect(slept).toEqual([]);
    expect(events).toEqual([
      {
        type: 'failure',
        failure: {
          ...overloaded,
          retryAfterMs: 61_000,
          retryable: false,
          remedy: expect.stringContaining('61 s'),
        },
      },
    ]);
  });

  it('does not retry what will not pass', async () => {
    const failure: ModelFailure = { kind: 'authentication', message: 'no', retryable: false };
    const { events, models } = await run([failure], { fallbackModels: ['b'] });
    expect(events).toEqual([{ type: 'failure', failure }]);
    expect(models).toEqual(['a']);
  });

  it('falls back in order, with retries for each model', async () => {
    const { events, models } = await run(
      [overloaded, overloaded, overloaded, overloaded, undefined],
      {
        maxRetries: 1,
        fallbackModels: ['a', 'b', 'c'],
      },
    );
    expect(models).toEqual(['a', 'a', 'b', 'b', 'c']);
    expect(events.filter((event) => event.type === 'fallback')).toEqual([
      { type: 'fallback', from: 'a', to: 'b', failure: overloaded },
      { type: 'fallback', from: 'b', to: 'c', failure: overloaded },
    ]);
  });

  it('falls back at once when the model does not exist', async () => {
    const failure: ModelFailure = { kind: 'model_not_found', message: 'a?', retryable: false };
    expect((await run([failure, undefined], { fallbackModels: ['b'] })).models).toEqual(['a', 'b']);
  });

  it('ends the pause when aborted', async () => {
    const controller = new AbortController();
    const { inner } = client([overloaded]);
    const events: ModelEvent[] = [];
    for await (const event of withRetry(inner).stream(request, controller.signal)) {
      events.push(event);
      if (event.type === 'retry') controller.abort();
    }
    expect(events.at(-1)).toMatchObject({ type: 'failure', failure: { kind: 'aborted' } });
  });

  it('leaves every attempt: one that failed, one that is over, one that is read no further', async () => {
    let open = 0;
    const outcomes: ModelEvent[] = [
      { type: 'failure', failure: overloaded },
      { type: 'message_stop' },
      { type: 'ping' },
    ];
    const inner: ModelClient = {
      provider: 'test',
      async *stream() {
        open++;
        try {
          const outcome = outcomes.shift();
          if (outcome !== undefined) yield outcome;
          await new Promise(() => undefined);
        } finally {
          open--;
        }
      },
    };
    const retrying = withRetry(inner, { sleep: async () => undefined });
    const kinds: string[] = [];
    for await (const { type } of retrying.stream(request, new AbortController().signal)) {
      kinds.push(type);
    }
    expect(kinds).toEqual(['retry', 'message_stop']);
    expect(open).toBe(0);
    for await (const { type } of retrying.stream(request, new AbortController().signal)) {
      expect(type).toBe('ping');
      break;
    }
    expect(open).toBe(0);
  });

  it('reads the limit from the environment', () => {
    expect(maxRetriesFrom({ CLAUDE_CODE_MAX_RETRIES: '3' })).toBe(3);
    expect(maxRetriesFrom({ CLAUDE_CODE_MAX_RETRIES: '99' })).toBe(15);
    expect(maxRetriesFrom({ CLAUDE_CODE_MAX_RETRIES: 'many' })).toBeUndefined();
    expect(maxRetriesFrom({})).toBeUndefined();
  });
});
