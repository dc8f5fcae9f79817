import { describe, expect, it } from 'vitest';
import type { ModelClient, ModelEvent, ModelRequest } from '../client.js';
import { withUsageTracking } from './wrappers.js';

const REQUEST: ModelRequest = { model: 'm', system: [], tools: [], messages: [], maxTokens: 1 };

function playing(events: readonly ModelEvent[]): ModelClient {
  return {
    provider: 'test',
    async *stream() {
      yield* events;
    },
  };
}

async function booked(events: readonly ModelEvent[]) {
  const rows: unknown[] = [];
  let now = 0;
  const client = withUsageTracking(playing(events), {
    clock: { monotonic: () => now++ },
    recordUsage: (model, usage) => void rows.push([model, usage.input_tokens, usage.output_tokens]),
  });
  for await (const _event of client.stream(REQUEST, new AbortController().signal)) {
    // Only what is booked matters here.
  }
  return { rows, elapsed: client.elapsedMs() };
}

const start: ModelEvent = {
  type: 'message_start',
  message: { id: 'i', model: 'm', usage: { input_tokens: 10, output_tokens: 1 } },
};
const end: ModelEvent[] = [
  { type: 'message_delta', delta: { stop_reason: 'end_turn' }, usage: { output_tokens: 7 } },
  { type: 'message_stop' },
];
const failure: ModelEvent = {
  type: 'failure',
  failure: { kind: 'connection', message: 'cut', retryable: true },
};

describe('the meter', () => {
  it('books a whole answer once, with its last counts', async () => {
    expect(await booked([start, ...end])).toEqual({ rows: [['m', 10, 7]], elapsed: 1 });
  });

  it('books an attempt that broke off as well as the one that followed', async () => {
    const retry: ModelEvent = {
      type: 'retry',
      attempt: 1,
      maxRetries: 1,
      delayMs: 0,
      failure: failure.failure,
    };
    expect((await booked([start, retry, start, ...end])).rows).toEqual([
      ['m', 10, 1],
      ['m', 10, 7],
    ]);
    expect((await booked([start, failure])).rows).toEqual([['m', 10, 1]]);
  });

  it('books nothing where nothing was counted', async () => {
    expect((await booked([failure])).rows).toEqual([]);
  });
});
