import { describe, expect, it } from 'vitest';
import type { ModelEvent, ModelFailure, ModelRequest } from '../../model/client.js';
import type { Message } from '../../protocol/content.js';
import { textOf } from '../../protocol/content.js';
import { type CompactOptions, compact, SUMMARY_TAG } from './compact.js';
import { estimateMessages } from './tokens.js';

type Reply = string | ModelFailure | readonly ModelEvent[];

class Model {
  readonly requests: ModelRequest[] = [];
  readonly #replies: Reply[];

  constructor(...replies: Reply[]) {
    this.#replies = replies;
  }

  readonly call = async function* (this: Model, request: ModelRequest): AsyncGenerator<ModelEvent> {
    this.requests.push(request);
    const reply = this.#replies.shift();
    if (reply === undefined) throw new Error('the script is exhausted');
    if (typeof reply === 'string') {
      yield delta('<draft>');
      yield { type: 'message_start', message: { id: 'm', model: 'm', usage: {} } };
      for (const part of reply.match(/.{1,5}/gs) ?? []) yield delta(part);
      yield { type: 'message_stop' };
    } else if ('kind' in reply) {
      yield { type: 'failure', failure: reply };
    } else {
      yield* reply;
    }
  }.bind(this);
}

const delta = (text: string): ModelEvent => ({
  type: 'content_block_delta',
  index: 0,
  delta: { type: 'text_delta', text },
});
const failure = (kind: ModelFailure['kind']): ModelFailure => ({
  kind,
  message: kind,
  retryable: false,
});

const user = (text: string): Message => ({ role: 'user', content: [{ type: 'text', text }] });
const assistant = (text: string): Message => ({
  role: 'assistant',
  content: [{ type: 'text', text }],
});
const calls = (...ids: string[]): Message => ({
  role: 'assistant',
  content: ids.map((id) => ({ type: 'tool_use', id, name: 'T', input: {} })),
});
const results = (...ids: string[]): Message => ({
  role: 'user',
  content: ids.map((id) => ({ type: 'tool_result', tool_use_id: id, content: `result ${id}` })),
});

const request: ModelRequest = {
  model: 'm',
  system: [{ type: 'text', text: 'system' }],
  tools: [{ name: 'T', description: 'd', input_schema: {} }],
  messages: [],
  maxTokens: 1000,
  toolChoice: { type: 'tool', name: 'T' },
};

const history: readonly Message[] = [
  user('start'),
  calls('t1'),
  results('t1'),
  calls('t2', 't3'),
  results('t2', 't3'),
  assistant('done'),
  user('and now this'),
];

function run(model: Model, options: Partial<CompactOptions> = {}): ReturnType<typeof compact> {
  return compact({
    messages: history,
    callModel: model.call,
    request,
    signal: new AbortController().signal,
    ...options,
  });
}

async function done(
  model: Model,
  options: Partial<CompactOptions> = {},
): Promise<Extract<Awaited<ReturnType<typeof compact>>, { ok: true }>['value']> {
  const outcome = await run(model, options);
  if (!outcome.ok) throw new Error(outcome.error.kind);
  return outcome.value;
}

describe('compaction', () => {
  it('asks with the same system prompt and tools, and the instruction at the very end', async () => {
    const model = new Model('<summary>S</summary>');
    await run(model, { instructions: 'keep the ports' });
    const [asked] = model.requests;
    expect(asked?.system).toBe(request.system);
    expect(asked?.tools).toBe(request.tools);
    expect(asked).not.toHaveProperty('toolChoice');
    expect(asked?.messages.slice(0, -1)).toEqual(history.slice(0, -1));
    const last = textOf(asked?.messages.at(-1)?.content ?? '');
    expect(last).toContain('and now this');
    expect(last).toContain('create a detailed summary');
    expect(last).toContain('keep the ports');
  });

  it('puts the summary first and keeps the last answers as they are', async () => {
    const compaction = await done(new Model('thinking… <summary>\nS\n</summary> bye'), {
      preserve: 'P',
    });
    expect(compaction.summaryText).toBe('S');
    const [first, ...rest] = compaction.newMessages;
    expect(textOf(first?.content ?? '')).toContain(`<${SUMMARY_TAG}>`);
    expect(textOf(first?.content.slice(0, 1) ?? '')).toContain('S');
    expect(first?.content.at(-1)).toEqual({ type: 'text', text: 'P' });
    expect(rest).toEqual(history.slice(3));
    expect(rest.every((message, index) => message === history[index + 3])).toBe(true);
    expect(compaction.preTokens).toBe(estimateMessages(history));
    expect(compaction.postTokens).toBe(estimateMessages(compaction.newMessages));
    expect(JSON.stringify(compaction.newMessages)).not.toContain('t1');
  });

  it('counts what is not history too', async () => {
    const compaction = await done(new Model('S'), { usedTokens: 50_000 });
    expect(compaction.preTokens).toBe(50_000);
    expect(compaction.postTokens).toBe(
      50_000 - estimateMessages(history) + estimateMessages(compaction.newMessages),
    );
  });

  it('never loses what the user said last, nor parts a call from its result', async () => {
    for (const messages of [history, history.slice(0, 5), history.slice(0, 6)]) {
      const { newMessages } = await done(new Model('S'), { messages });
      const text = JSON.stringify(newMessages);
      if (messages === history) expect(text).toContain('and now this');
      for (const id of ['t1', 't2', 't3']) {
        expect(text.includes(`"id":"${id}"`)).toBe(text.includes(`"tool_use_id":"${id}"`));
      }
      expect(newMessages.map(({ role }) => role)).toEqual(
        newMessages.map((_, index) => (index % 2 === 0 ? 'user' : 'assistant')),
      );
      expect(text).not.toContain('start');
    }
  });

  it('takes an answer without tags, and one that was cut off', async () => {
    expect((await done(new Model('plain'))).summaryText).toBe('plain');
    expect((await done(new Model('<summary>cut o'))).summaryText).toBe('cut o');
  });

  it('forgets what came before a retry', async () => {
    const retry: ModelEvent = {
      type: 'retry',
      attempt: 1,
      maxRetries: 2,
      delayMs: 1,
      failure: failure('overloaded'),
    };
    const model = new Model([delta('old'), retry, delta('new'), { type: 'message_stop' }]);
    expect((await done(model)).summaryText).toBe('new');
  });

  it('fails without touching anything', async () => {
    const frozen = structuredClone(history);
    expect(await run(new Model(failure('server')))).toEqual({
      ok: false,
      error: { kind: 'model_failure', failure: failure('server') },
    });
    expect(await run(new Model('<summary> </summary>'))).toEqual({
      ok: false,
      error: { kind: 'empty_summary' },
    });
    expect(await run(new Model(), { messages: [user('only')] })).toEqual({
      ok: false,
      error: { kind: 'nothing_to_compact' },
    });
    expect(history).toEqual(frozen);
  });

  it('leaves out the oldest, twice at most, when the summary request is too long itself', async () => {
    const long = [user('start')];
    for (let turn = 0; turn < 16; turn++) {
      long.push(calls(`c${turn}`), results(`c${turn}`));
    }
    const model = new Model(failure('prompt_too_long'), failure('prompt_too_long'), 'S');
    await done(model, { messages: long });
    const sizes = model.requests.map((asked) => asked.messages.length);
    expect(sizes[0]).toBe(33);
    expect(sizes[1]).toBeLessThan(19);
    expect(sizes[2]).toBeLessThan(11);
    for (const { messages } of model.requests) expect(messages[0]?.role).toBe('user');
    expect(textOf(model.requests[2]?.messages[0]?.content ?? '')).toContain('left out');
    const stubborn = new Model(...Array.from({ length: 4 }, () => failure('prompt_too_long')));
    expect((await run(stubborn, { messages: long })).ok).toBe(false);
    expect(stubborn.requests).toHaveLength(3);
  });
});
