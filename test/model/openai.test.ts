import http from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import type { ModelEvent, ModelRequest } from '../../src/model/client.js';
import { openAiClient } from '../../src/model/openai/client.js';
import { MessageAccumulator } from '../../src/model/stream/accumulate.js';
import type { Message } from '../../src/protocol/content.js';
import { startFakeModelServer } from '../../src/testing/fake-model-server.js';

const closers: (() => unknown)[] = [];

afterEach(async () => {
  await Promise.all(closers.splice(0).map((close) => close()));
});

/** A server that answers every request with exactly this text. */
async function raw(body: string, contentType = 'text/event-stream') {
  const server = http.createServer((request, response) => {
    request.resume();
    response.writeHead(200, { 'content-type': contentType });
    response.end(body);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  closers.push(() => {
    server.closeAllConnections();
    server.close();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`;
}

function chunk(delta: object, finish: string | null = null): string {
  return `data: ${JSON.stringify({ id: 'c1', model: 'm', choices: [{ index: 0, delta, finish_reason: finish }] })}\n\n`;
}

const base: ModelRequest = {
  model: 'local',
  system: [
    { type: 'text', text: 'one' },
    { type: 'text', text: 'two' },
  ],
  tools: [{ name: 'Read', description: 'reads', input_schema: { type: 'object' } }],
  messages: [{ role: 'user', content: [{ type: 'text', text: 'hello' }] }],
  maxTokens: 64,
};

async function ask(baseUrl: string, request: Partial<ModelRequest> = {}): Promise<ModelEvent[]> {
  let made = 0;
  const client = openAiClient({
    baseUrl,
    userAgent: 'portcullis/1',
    newId: () => `made_${made++}`,
  });
  const events: ModelEvent[] = [];
  const signal = new AbortController().signal;
  for await (const event of client.stream({ ...base, ...request }, signal)) events.push(event);
  return events;
}

function answerOf(events: readonly ModelEvent[]) {
  const fold = new MessageAccumulator();
  for (const event of events) fold.push(event);
  expect(events.at(-1)).toEqual({ type: 'message_stop' });
  return fold.answer();
}

describe('requests', () => {
  it('translate the conversation, and turn N is a byte prefix of turn N+1', async () => {
    const server = await startFakeModelServer({ script: ['a', 'b', 'c'] });
    closers.push(server.close);
    const client = openAiClient({
      baseUrl: `${server.url}/v1`,
      apiKey: 'k',
      userAgent: 'portcullis/1',
    });
    const history: Message[] = [
      ...base.messages,
      {
        role: 'assistant',
        content: [
          { type: 'thinking', thinking: 'secret', signature: 's' },
          { type: 'text', text: 'I look.' },
          { type: 'tool_use', id: 't1', name: 'Read', input: { p: 1 } },
          { type: 'tool_use', id: 't2', name: 'Read', input: {} },
        ],
      },
      {
        role: 'user',
        content: [
          {
            type: 'tool_result',
            tool_use_id: 't1',
            content: [
              { type: 'text', text: 'a picture' },
              { type: 'image', source: { type: 'base64', media_type: 'image/png', data: 'AAAA' } },
            ],
          },
          { type: 'tool_result', tool_use_id: 't2', content: 'text', is_error: true },
          { type: 'text', text: 'and now?' },
          {
            type: 'document',
            source: { type: 'base64', media_type: 'application/pdf', data: 'x' },
            title: 'spec.pdf',
          },
        ],
      },
    ];
    for (const length of [1, 3]) {
      const request = {
        ...base,
        messages: history.slice(0, length),
        toolChoice: { type: 'tool', name: 'Read' } as const,
      };
      for await (const _event of client.stream(request, new AbortController().signal));
    }
    expect(server.requests[1]?.headers.authorization).toBe('Bearer k');
    expect(server.requests[1]?.body).toEqual({
      model: 'local',
      max_tokens: 64,
      stream: true,
      stream_options: { include_usage: true },
      tool_choice: { type: 'function', function: { name: 'Read' } },
      tools: [
        {
          type: 'function',
          function: { name: 'Read', description: 'reads', parameters: { type: 'object' } },
        },
      ],
      messages: [
        { role: 'system', content: 'one\n\ntwo' },
        { role: 'user', content: 'hello' },
        {
          role: 'assistant',
          content: 'I look.',
          tool_calls: [
            { id: 't1', type: 'function', function: { name: 'Read', arguments: '{"p":1}' } },
            { id: 't2', type: 'function', function: { name: 'Read', arguments: '{}' } },
          ],
        },
        {
          role: 'tool',
          tool_call_id: 't1',
          content: 'a picture\n[1 image(s) follow in the next message]',
        },
        { role: 'tool', tool_call_id: 't2', content: 'text' },
        {
          role: 'user',
          content: [
            { type: 'text', text: 'Images of the tool result t1:' },
            { type: 'image_url', image_url: { url: 'data:image/png;base64,AAAA' } },
            { type: 'text', text: 'and now?' },
            {
              type: 'text',
              text: '[document "spec.pdf" (application/pdf) left out: this model takes text and images only]',
            },
          ],
        },
      ],
    });
    const [first, second] = server.requests.map((request) => request.raw.toString('utf8'));
    expect(second?.startsWith((first ?? '').slice(0, -2))).toBe(true);
    expect(server.connections()).toBe(1);
  });
});

describe('answers', () => {
  it('carry usage with cached tokens apart', async () => {
    const server = await startFakeModelServer({
      script: [
        { text: 'x', usage: { input_tokens: 3, cache_read_input_tokens: 40, output_tokens: 2 } },
      ],
    });
    closers.push(server.close);
    const { usage } = answerOf(await ask(`${server.url}/v1`));
    expect(usage).toMatchObject({ input_tokens: 3, cache_read_input_tokens: 40, output_tokens: 2 });
  });

  it('may come unstreamed', async () => {
    const server = await startFakeModelServer({
      script: [
        {
          blocks: [{ thinking: 'hm' }, 'text', { tool: 'Read', id: 'q', input: { a: 1 } }],
          serve: { misbehave: 'unstreamed' },
        },
      ],
    });
    closers.push(server.close);
    const answer = answerOf(await ask(`${server.url}/v1`));
    expect(answer.content).toEqual([
      { type: 'thinking', thinking: 'hm', signature: '' },
      { type: 'text', text: 'text' },
      { type: 'tool_use', id: 'q', name: 'Read', input: { a: 1 } },
    ]);
    expect(answer.stopReason).toBe('tool_use');
  });

  it('may lack [DONE], ids, indexes and pieces', async () => {
    const url = await raw(
      ': keepalive\n\n' +
        chunk({ tool_calls: [{ function: { name: 'Read', arguments: '{"a":1}' } }] }) +
        chunk({ tool_calls: [{ function: { name: 'Bash', arguments: { b: 2 } } }] }) +
        chunk({}, 'stop'),
    );
    const answer = answerOf(await ask(url));
    expect(answer.content).toEqual([
      { type: 'tool_use', id: 'made_0', name: 'Read', input: { a: 1 } },
      { type: 'tool_use', id: 'made_1', name: 'Bash', input: { b: 2 } },
    ]);
    expect(answer.stopReason).toBe('tool_use');
  });

  it('may mix the pieces of parallel calls, or give all calls index 0', async () => {
    const call = (index: number, more: object) => chunk({ tool_calls: [{ index, ...more }] });
    const mixed = await raw(
      call(0, { id: 'a', function: { name: 'Read', arguments: '{"a"' } }) +
        call(1, { id: 'b', function: { name: 'Bash', arguments: '{"b"' } }) +
        call(0, { function: { arguments: ':1}' } }) +
        call(1, { function: { arguments: ':2}' } }) +
        chunk({}, 'tool_calls') +
        'data: [DONE]\n\n',
    );
    const expected = [
      { type: 'tool_use', id: 'a', name: 'Read', input: { a: 1 } },
      { type: 'tool_use', id: 'b', name: 'Bash', input: { b: 2 } },
    ];
    expect(answerOf(await ask(mixed)).content).toEqual(expected);
    const same = await raw(
      call(0, { id: 'a', function: { name: 'Read', arguments: '{"a":1}' } }) +
        call(0, { id: 'b', function: { name: 'Bash', arguments: '{"b":2}' } }) +
        chunk({}, 'tool_calls'),
    );
    expect(answerOf(await ask(same)).content).toEqual(expected);
  });

  it('map the reasons to stop', async () => {
    for (const [finish, reason] of [
      ['length', 'max_tokens'],
      ['content_filter', 'refusal'],
      ['stop', 'end_turn'],
    ] as const) {
      const url = await raw(`${chunk({ content: 'x' })}${chunk({}, finish)}data: [DONE]\n\n`);
      expect(answerOf(await ask(url)).stopReason).toBe(reason);
    }
  });

  it('begin with the reasoning, under either of its names', async () => {
    for (const name of ['reasoning', 'reasoning_content']) {
      const url = await raw(chunk({ [name]: 'hm' }) + chunk({ content: 'x' }, 'stop'));
      expect(answerOf(await ask(url)).content).toEqual([
        { type: 'thinking', thinking: 'hm', signature: '' },
        { type: 'text', text: 'x' },
      ]);
    }
  });
});

describe('failures', () => {
  it.each([
    [
      `${chunk({ content: 'x' })}data: {"error":{"message":"boom","type":"server_error"}}\n\n`,
      'server',
      true,
    ],
    [
      'data: {"error":{"message":"maximum context length is 8","code":400}}\n\n',
      'prompt_too_long',
      false,
    ],
    [chunk({ content: 'x' }), 'connection', true],
    ['', 'connection', true],
    [`${chunk({ content: 'x' })}data: {"choi\n\ndata: {}\n\n`, 'bad_response', true],
    ['<html>hi</html>', 'bad_response', false],
    ['{"models": []}', 'bad_response', false],
    ['{"error": "model is loading"}', 'server', true],
    ['upstream timeout\n', 'bad_response', false],
  ])('%s', async (body, kind, retryable) => {
    const events = await ask(await raw(body));
    const last = events.at(-1);
    expect(last).toMatchObject({ type: 'failure', failure: { kind, retryable } });
    expect(events.filter((event) => event.type === 'failure').length).toBe(1);
  });
});
