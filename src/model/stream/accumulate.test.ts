import { describe, expect, it } from 'vitest';
import type { Usage } from '../../protocol/content.js';
import type { BlockDelta, ModelEvent } from '../client.js';
import { MessageAccumulator } from './accumulate.js';

const start: ModelEvent = {
  type: 'message_start',
  message: { id: 'm1', model: 'x', usage: { input_tokens: 7, output_tokens: 1 } },
  requestId: 'req_1',
};

function toolBlock(
  pieces: readonly string[],
  more: object = { id: 't1', name: 'Read' },
): ModelEvent[] {
  return [
    { type: 'content_block_start', index: 0, content_block: { type: 'tool_use', ...more } },
    ...pieces.map((partial_json): ModelEvent => {
      return {
        type: 'content_block_delta',
        index: 0,
        delta: { type: 'input_json_delta', partial_json },
      };
    }),
    { type: 'content_block_stop', index: 0 },
  ];
}

function stopped(stop_reason: string): ModelEvent[] {
  return [
    { type: 'message_delta', delta: { stop_reason }, usage: { output_tokens: 9 } },
    { type: 'message_stop' },
  ];
}

function foldAll(events: readonly ModelEvent[]) {
  const fold = new MessageAccumulator();
  const completed = events.map((event) => fold.push(event)).filter((block) => block !== undefined);
  return { completed, answer: fold.answer() };
}

describe('MessageAccumulator', () => {
  it('hands out blocks as they complete and merges the usage', () => {
    const { completed, answer } = foldAll([
      start,
      { type: 'content_block_start', index: 0, content_block: { type: 'thinking', thinking: '' } },
      { type: 'content_block_delta', index: 0, delta: { type: 'thinking_delta', thinking: 'hm' } },
      { type: 'content_block_delta', index: 0, delta: { type: 'signature_delta', signature: 's' } },
      { type: 'content_block_stop', index: 0 },
      { type: 'ping' },
      { type: 'content_block_start', index: 1, content_block: { type: 'text', text: 'a' } },
      { type: 'content_block_delta', index: 1, delta: { type: 'text_delta', text: 'b' } },
      { type: 'content_block_stop', index: 1 },
      ...stopped('end_turn'),
    ]);
    expect(completed).toEqual([
      { type: 'thinking', thinking: 'hm', signature: 's' },
      { type: 'text', text: 'ab' },
    ]);
    expect(answer).toEqual({
      id: 'm1',
      model: 'x',
      content: completed,
      stopReason: 'end_turn',
      usage: {
        input_tokens: 7,
        output_tokens: 9,
        cache_creation_input_tokens: 0,
        cache_read_input_tokens: 0,
      },
      malformed: new Map(),
      requestId: 'req_1',
    });
  });

  it.each([
    { pieces: ['{"a"', ':1}'], input: { a: 1 }, cause: undefined },
    { pieces: [], input: {}, cause: undefined },
    { pieces: ['{"a":'], input: {}, cause: 'invalid_json' },
    { pieces: ['[1]'], input: {}, cause: 'not_an_object' },
    { pieces: ['null'], input: {}, cause: 'not_an_object' },
    { pieces: ['{"__proto__":{"x":1}}'], input: {}, cause: 'invalid_json' },
  ])('parses the input $pieces', ({ pieces, input, cause }) => {
    const { answer } = foldAll([start, ...toolBlock(pieces), ...stopped('tool_use')]);
    expect(answer.content).toEqual([{ type: 'tool_use', id: 't1', name: 'Read', input }]);
    expect(answer.malformed.get('t1')?.cause).toBe(cause);
  });

  it('blames the output limit, also for a call that has no input yet', () => {
    for (const pieces of [['{"a":'], []]) {
      const { answer } = foldAll([start, ...toolBlock(pieces), ...stopped('max_tokens')]);
      expect(answer.malformed.get('t1')).toEqual({ raw: pieces.join(''), cause: 'output_limit' });
    }
  });

  it('takes a block that was never closed for cut off', () => {
    const events = toolBlock(['{"a":1']).slice(0, -1);
    const { answer } = foldAll([start, ...events, ...stopped('tool_use')]);
    expect(answer.malformed.get('t1')).toEqual({ raw: '{"a":1', cause: 'cut_stream' });
  });

  it('forgets everything before a retry, a fallback or a new start', () => {
    const failure = { kind: 'overloaded', message: '', retryable: true } as const;
    const resets: ModelEvent[] = [
      { type: 'retry', attempt: 1, maxRetries: 2, delayMs: 1, failure },
      { type: 'fallback', from: 'a', to: 'b', failure },
      start,
    ];
    for (const reset of resets) {
      const { answer } = foldAll([
        start,
        ...toolBlock(['{']),
        reset,
        start,
        ...stopped('end_turn'),
      ]);
      expect(answer.content).toEqual([]);
      expect(answer.malformed.size).toBe(0);
    }
  });

  it('makes ids and names where they are missing, and ids unique', () => {
    const twice = [0, 1].flatMap((index): ModelEvent[] => [
      {
        type: 'content_block_start',
        index,
        content_block: { type: 'tool_use', id: 'same', name: 'A' },
      },
      { type: 'content_block_stop', index },
    ]);
    const { answer } = foldAll([start, ...twice, ...stopped('tool_use')]);
    expect(answer.content.map((block) => ('id' in block ? block.id : ''))).toEqual([
      'same',
      'same_1',
    ]);
    const bare = foldAll([start, ...toolBlock([], {}), ...stopped('tool_use')]).answer;
    expect(bare.content).toEqual([
      { type: 'tool_use', id: 'toolu_m1_0', name: 'unnamed_tool', input: {} },
    ]);
  });

  it('takes an input that came with the start of the block', () => {
    const whole = { id: 't1', name: 'Read', input: { a: 1 } };
    const { answer } = foldAll([start, ...toolBlock([], whole), ...stopped('tool_use')]);
    expect(answer.content).toEqual([{ type: 'tool_use', ...whole }]);
  });

  it('leaves out empty text and keeps kinds that it does not know', () => {
    const strange = { type: 'server_tool_use', id: 'x', name: 'web_search' };
    const { answer } = foldAll([
      start,
      { type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } },
      { type: 'content_block_stop', index: 0 },
      { type: 'content_block_start', index: 1, content_block: strange },
      { type: 'content_block_stop', index: 1 },
      ...stopped('end_turn'),
    ]);
    expect(answer.content).toEqual([strange]);
  });

  it('gives every call of an answer an id of its own', () => {
    const ids = ['a', 'a_2', 'a', '', 'a'];
    const { answer } = foldAll([
      start,
      ...ids.flatMap((id, index): ModelEvent[] => [
        {
          type: 'content_block_start',
          index,
          content_block: { type: 'tool_use', id, name: 'Read', input: {} },
        },
        { type: 'content_block_stop', index },
      ]),
      ...stopped('tool_use'),
    ]);
    const given = answer.content.map((block) => block.type === 'tool_use' && block.id);
    expect(new Set(given).size).toBe(ids.length);
  });

  it('does not believe counts that cannot be', () => {
    const lies = {
      input_tokens: -1e9,
      output_tokens: '5',
      cache_read_input_tokens: Number.POSITIVE_INFINITY,
      cache_creation_input_tokens: null,
      server_tool_use: { web_search_requests: {}, web_fetch_requests: -1 },
      service_tier: 'standard',
    };
    const { answer } = foldAll([
      start,
      {
        type: 'message_delta',
        delta: { stop_reason: 'end_turn' },
        usage: lies as unknown as Partial<Usage>,
      },
      { type: 'message_stop' },
    ]);
    expect(answer.usage).toEqual({
      input_tokens: 7,
      output_tokens: 1,
      cache_creation_input_tokens: 0,
      cache_read_input_tokens: 0,
      server_tool_use: {},
      service_tier: 'standard',
    });
  });

  it('takes counts that are none at all for nothing said', () => {
    for (const usage of [null, 5, 'many', []]) {
      const { answer } = foldAll([
        start,
        {
          type: 'message_delta',
          delta: { stop_reason: 'end_turn' },
          usage: usage as unknown as Partial<Usage>,
        },
        { type: 'message_stop' },
      ]);
      expect(answer.usage).toMatchObject({ input_tokens: 7, output_tokens: 1 });
      expect(Object.keys(answer.usage)).toHaveLength(4);
    }
  });

  it('takes nothing but text for text', () => {
    const odd = { type: 'text_delta', text: { a: 1 } } as unknown as BlockDelta;
    const { answer } = foldAll([
      start,
      { type: 'content_block_delta', index: 0, delta: odd },
      { type: 'content_block_stop', index: 0 },
      ...stopped('end_turn'),
    ]);
    expect(answer.content).toEqual([]);
  });
});
