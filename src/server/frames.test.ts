import { describe, expect, it } from 'vitest';
import type { LoopEvent, RunResult, StopReason } from '../app.js';
import type { ModelFailure } from '../model/client.js';
import { createFramer, type FrameOptions } from './frames.js';
import { resultFrame, startFailureFrame } from './result.js';
import { encodeFrame, type Frame, MAX_FRAME_BYTES, UNLIMITED } from './wire.js';

const USAGE = {
  input_tokens: 1,
  output_tokens: 2,
  cache_creation_input_tokens: 0,
  cache_read_input_tokens: 0,
};
const FAILURE: ModelFailure = { kind: 'overloaded', status: 529, message: 'busy', retryable: true };

function framer(more: Partial<FrameOptions> = {}) {
  let ids = 0;
  return createFramer({
    sessionId: () => 'S',
    partialMessages: false,
    replayPrompts: false,
    stateChanges: false,
    decisions: false,
    hookEvents: false,
    uuid: () => `u${++ids}`,
    ...more,
  });
}

const answer: LoopEvent = {
  type: 'answer',
  answer: {
    id: 'msg',
    model: 'm',
    message: {
      role: 'assistant',
      content: [
        { type: 'text', text: 'a' },
        { type: 'tool_use', id: 't', name: 'Read', input: {} },
      ],
    },
    blockIds: ['b1', 'b2'],
    stopReason: 'tool_use',
    usage: USAGE,
    malformed: new Map(),
  },
};
const block = (uuid: string): LoopEvent => ({
  type: 'block',
  block: { type: 'text', text: 'a' },
  uuid,
  answerId: 'msg',
  model: 'm',
  usage: USAGE,
});

describe('frames', () => {
  it('sends one assistant message per block, sharing the message id, with no stop reason', () => {
    expect(framer()(answer)).toEqual([
      expect.objectContaining({
        type: 'assistant',
        uuid: 'b1',
        parent_tool_use_id: null,
        session_id: 'S',
        message: expect.objectContaining({
          id: 'msg',
          stop_reason: null,
          content: [{ type: 'text', text: 'a' }],
        }),
      }),
      expect.objectContaining({ type: 'assistant', uuid: 'b2' }),
    ]);
    expect(framer()(block('b1'))).toEqual([]);
  });

  it('with partial messages sends blocks as they come and says which ones a retry takes back', () => {
    const frames = framer({ partialMessages: true });
    expect(frames(block('b1'))).toHaveLength(1);
    expect(frames(answer)).toEqual([]);
    frames(block('b3'));
    const retry = frames({
      type: 'retry',
      event: { type: 'retry', attempt: 1, maxRetries: 3, delayMs: 500, failure: FAILURE },
    });
    expect(retry).toEqual([
      expect.objectContaining({
        subtype: 'api_retry',
        attempt: 1,
        max_retries: 3,
        retry_delay_ms: 500,
        error_status: 529,
        error: 'overloaded',
      }),
    ]);
    expect(retry[0]).not.toHaveProperty('no_response');
    expect(frames(block('b4'))).toEqual([
      expect.objectContaining({ uuid: 'b4', supersedes: ['b3'] }),
    ]);
    expect(frames(block('b5'))[0]).not.toHaveProperty('supersedes');
  });

  it('says how long a server that sent nothing was waited for', () => {
    const failure = { kind: 'timeout', message: 'm', retryable: true, waitedMs: 9000 } as const;
    expect(
      framer()({
        type: 'retry',
        event: { type: 'retry', attempt: 1, maxRetries: 3, delayMs: 500, failure },
      }),
    ).toEqual([
      expect.objectContaining({
        error: 'server_error',
        error_status: null,
        no_response: { waited_ms: 9000, retry_wait_ms: 9000 },
      }),
    ]);
  });

  it('echoes prompts only on request and never what the runtime added', () => {
    const input: LoopEvent = {
      type: 'input',
      message: { uuid: 'p', content: [{ type: 'text', text: 'hi' }] },
    };
    expect(framer()(input)).toEqual([]);
    expect(framer({ replayPrompts: true })(input)).toEqual([
      expect.objectContaining({ type: 'user', uuid: 'p', isReplay: true }),
    ]);
    expect(
      framer({ replayPrompts: true })({ type: 'input', message: { ...input.message, meta: true } }),
    ).toEqual([]);
  });

  it('keeps every line below the buffer of a client', () => {
    const huge = 'é'.repeat(2_000_000);
    const line = encodeFrame({
      type: 'user',
      uuid: 'x',
      session_id: 'S',
      message: { content: [{ type: 'tool_result', content: huge }] },
    });
    expect(Buffer.byteLength(line)).toBeLessThanOrEqual(MAX_FRAME_BYTES + 1);
    expect(JSON.parse(line)).toMatchObject({
      uuid: 'x',
      message: { content: [{ content: expect.stringContaining('more characters') }] },
    });
    const many = encodeFrame({
      type: 'user',
      uuid: 'x',
      session_id: 'S',
      list: Array.from({ length: 30_000 }, () => 'y'.repeat(100)),
    });
    expect(Buffer.byteLength(many)).toBeLessThanOrEqual(MAX_FRAME_BYTES + 1);
    expect(encodeFrame({ type: 'user', text: 'line\nbreak' })).toBe(
      '{"type":"user","text":"line\\nbreak"}\n',
    );
  });

  const long = 'x'.repeat(MAX_FRAME_BYTES);
  it.each<Frame>([
    { type: 'control_request', request_id: 'r', request: { input: long } },
    { type: 'control_response', response: { request_id: 'r', response: long } },
    { type: 'transcript_mirror', entries: [{ message: long }] },
    { type: 'result', subtype: 'success', structured_output: long },
  ])('never cuts what would pass for the whole: %#', (frame) => {
    expect(JSON.parse(encodeFrame(frame))).toEqual(frame);
  });

  it('keeps what every client needs of a message that has many parts', () => {
    const input = Object.fromEntries(Array.from({ length: 90_000 }, (_, at) => [`k${at}`, at]));
    const block = { type: 'tool_use', id: 'i', name: 'mcp__s__t', input };
    const message = { role: 'assistant', model: 'm', content: [block] };
    const line = encodeFrame({ type: 'assistant', message, parent_tool_use_id: null });
    expect(Buffer.byteLength(line)).toBeLessThanOrEqual(MAX_FRAME_BYTES + 1);
    expect(JSON.parse(line)).toMatchObject({
      message: { model: 'm', content: [{ type: 'tool_use', id: 'i', name: 'mcp__s__t' }] },
    });
  });

  it('cuts nothing for a client that reads lines of any length', () => {
    const frame = { type: 'user', text: long } as const;
    expect(JSON.parse(encodeFrame(frame, UNLIMITED))).toEqual(frame);
  });
});

describe('the result', () => {
  const run = (reason: StopReason, more: Partial<RunResult> = {}): RunResult => ({
    outcome: { reason, turns: 2, text: 'the text', lastAnswer: undefined },
    durationMs: 12.4,
    apiMs: 7.6,
    usage: USAGE,
    modelUsage: {},
    cost: { knownUsd: 0.5, unknownModels: [] },
    denials: [],
    unrecoveredDenials: 0,
    ...more,
  });
  const frame = (reason: StopReason) => resultFrame(run(reason), 'S', 'u');

  it.each<[StopReason, Record<string, unknown>]>([
    [
      { kind: 'completed', stopReason: 'end_turn' },
      {
        subtype: 'success',
        is_error: false,
        result: 'the text',
        terminal_reason: 'completed',
        stop_reason: 'end_turn',
      },
    ],
    [
      { kind: 'finished', structuredOutput: { n: 1 } },
      {
        subtype: 'success',
        structured_output: { n: 1 },
        result: '{"n":1}',
        stop_reason: 'tool_use',
      },
    ],
    [
      { kind: 'max_turns', limit: 3 },
      {
        subtype: 'error_max_turns',
        is_error: true,
        errors: ['Reached maximum number of turns (3)'],
        terminal_reason: 'max_turns',
      },
    ],
    [
      { kind: 'budget', limitUsd: 1, spentUsd: 1.25 },
      { subtype: 'error_max_budget_usd', errors: ['Reached the budget of $1 (spent $1.2500)'] },
    ],
    [
      { kind: 'aborted', during: 'tools' },
      { subtype: 'error_during_execution', terminal_reason: 'aborted_tools' },
    ],
    [{ kind: 'aborted', during: 'streaming' }, { terminal_reason: 'aborted_streaming' }],
    [
      { kind: 'stuck', message: 'again and again' },
      { subtype: 'error_during_execution', terminal_reason: 'malformed_tool_use_exhausted' },
    ],
    [
      { kind: 'structured_output_missing', attempts: 5 },
      { subtype: 'error_max_structured_output_retries' },
    ],
    [
      { kind: 'model_failure', failure: { ...FAILURE, remedy: 'wait' } },
      {
        subtype: 'success',
        is_error: true,
        result: 'API Error: 529: busy · wait',
        api_error_status: 529,
        terminal_reason: 'api_error',
      },
    ],
  ])('maps %j', (reason, expected) => {
    expect(frame(reason)).toMatchObject({
      type: 'result',
      num_turns: 2,
      duration_ms: 12,
      duration_api_ms: 8,
      session_id: 'S',
      uuid: 'u',
      total_cost_usd: 0.5,
      ...expected,
    });
  });

  it('names the models whose price is not known', () => {
    const unknown = run(
      { kind: 'completed', stopReason: null },
      { cost: { knownUsd: 0, unknownModels: ['x'] } },
    );
    expect(resultFrame(unknown, 'S', 'u')).toMatchObject({ cost_unknown_models: ['x'] });
    expect(frame({ kind: 'completed', stopReason: null })).not.toHaveProperty(
      'cost_unknown_models',
    );
  });

  it('tells of a failed start in the same shape', () => {
    expect(startFailureFrame(['no'], 'S', 'u')).toMatchObject({
      type: 'result',
      subtype: 'error_during_execution',
      is_error: true,
      errors: ['no'],
      num_turns: 0,
    });
  });
});
