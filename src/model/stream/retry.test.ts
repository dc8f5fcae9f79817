import { describe, expect, it } from 'vitest';
import type { ModelClient, ModelEvent, ModelFailure, ModelRequest } from '../client.js';
import { maxRetriesFrom, type RetryOptions, withRetry } from './retry.js';

const request: ModelRequest = { model: 'a', system: [], tools: [], messages: [], maxTokens: 10 };
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
