import http from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import { type AnthropicOptions, anthropicClient } from '../../src/model/anthropic/client.js';
import type { ModelEvent, ModelFailure, ModelRequest } from '../../src/model/client.js';
import type { Reply } from '../../src/model/scripted/format.js';
import { MessageAccumulator } from '../../src/model/stream/accumulate.js';
import { withRetry } from '../../src/model/stream/retry.js';
import type { Message } from '../../src/protocol/content.js';
import { type FakeModelServer, startFakeModelServer } from '../../src/testing/fake-model-server.js';

const servers: FakeModelServer[] = [];

afterEach(async () => {
  await Promise.all(servers.splice(0).map((server) => server.close()));
});

async function setUp(script: readonly Reply[], more: Partial<AnthropicOptions> = {}) {
  const server = await startFakeModelServer({ script });
  servers.push(server);
  const client = anthropicClient({
    baseUrl: server.url,
    apiKey: 'secret-key',
    userAgent: 'portcullis/1.2.3',
    ...more,
  });
  const ask = async (request: Partial<ModelRequest> = {}): Promise<ModelEvent[]> => {
    const events: ModelEvent[] = [];
    const signal = new AbortController().signal;
    for await (const event of client.stream({ ...base, ...request }, signal)) events.push(event);
    return events;
  };
  const failure = async (request: Partial<ModelRequest> = {}): Promise<ModelFailure> => {
    const last = (await ask(request)).at(-1);
    if (last?.type !== 'failure') throw new Error(`the last event is ${last?.type}`);
    return last.failure;
  };
  return { server, ask, failure };
}

const base: ModelRequest = {
  model: 'claude-opus-5-5',
  system: [{ type: 'text', text: 'system' }],
  tools: [],
  messages: [{ role: 'user', content: [{ type: 'text', text: 'hello' }] }],
  maxTokens: 64,
};

function answerOf(events: readonly ModelEvent[]) {
  const fold = new MessageAccumulator();
  for (const event of events) fold.push(event);
  return fold.answer();
}

describe('requests', () => {
  it('carry the headers of the API', async () => {
    const { server, ask } = await setUp(['a', 'b'], {
      betas: ['one'],
      customHeaders: { 'x-team': 'blue' },
    });
    await ask({ betas: ['two', 'one'] });
    expect(server.requests[0]?.path).toBe('/v1/messages');
    expect(server.requests[0]?.headers).toMatchObject({
      'anthropic-version': '2023-06-01',
      'x-api-key': 'secret-key',
      'anthropic-beta': 'one,two',
      'user-agent': 'portcullis/1.2.3',
      'content-type': 'application/json',
      'x-team': 'blue',
      'content-length': String(server.requests[0]?.raw.length),
    });
    expect(server.requests[0]?.headers.authorization).toBeUndefined();
  });

  it('carry a token instead of a key', async () => {
    const { server, ask } = await setUp(['a'], { apiKey: undefined, authToken: 'tok' });
    await ask();
    expect(server.requests[0]?.headers.authorization).toBe('Bearer tok');
    expect(server.requests[0]?.headers['x-api-key']).toBeUndefined();
  });

  it('are byte prefixes of the next turn, over one connection', async () => {
    const { server, ask } = await setUp(Array.from({ length: 6 }, (_, i) => `answer ${i} ü`));
    const messages: Message[] = [...base.messages];
    for (let turn = 0; turn < 6; turn++) {
      const answer = answerOf(await ask({ messages: [...messages] }));
      messages.push({ role: 'assistant', content: answer.content });
      messages.push({ role: 'user', content: [{ type: 'text', text: `more ${turn} 🙂` }] });
    }
    const sent = server.requests.map((request) =>
      request.raw.toString('utf8').replaceAll(',"cache_control":{"type":"ephemeral"}', ''),
    );
    for (const [index, body] of sent.slice(1).entries()) {
      expect(body.startsWith((sent[index] ?? '').slice(0, -2))).toBe(true);
    }
    expect(server.connections()).toBe(1);
  });
});

describe('answers', () => {
  it('arrive whole when every byte comes alone', async () => {
    const { ask } = await setUp([
      { text: 'grüße 🙂', tool: 'Read', input: { p: 'ä' }, serve: { dripBytes: 1 } },
    ]);
    const answer = answerOf(await ask());
    expect(answer.content).toMatchObject([
      { type: 'text', text: 'grüße 🙂' },
      { type: 'tool_use', name: 'Read', input: { p: 'ä' } },
    ]);
    expect(answer.requestId).toBe('req_script_1');
  });

  it('are read although the content type is wrong', async () => {
    const { ask } = await setUp([{ text: 'fine', serve: { misbehave: 'wrong_content_type' } }]);
    expect(answerOf(await ask()).content).toEqual([{ type: 'text', text: 'fine' }]);
  });

  it('end at message_stop although the server does not end the body', async () => {
    const { ask } = await setUp([{ text: 'fine', serve: { misbehave: 'no_end' } }, 'next']);
    expect((await ask()).at(-1)?.type).toBe('message_stop');
    expect(answerOf(await ask()).content).toEqual([{ type: 'text', text: 'next' }]);
  });
});

describe('connections', () => {
  it('are kept although the body ends after the last event was read', async () => {
    let connections = 0;
    const server = http.createServer((request, response) => {
      request.resume();
      const message = { id: 'msg_1', model: 'm', usage: {} };
      response.write(`data: ${JSON.stringify({ type: 'message_start', message })}\n\n`);
      response.write('data: {"type":"message_stop"}\n\n');
      setTimeout(() => response.end(), 10);
    });
    server.on('connection', () => connections++);
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const { port } = server.address() as AddressInfo;
    const client = anthropicClient({ baseUrl: `http://127.0.0.1:${port}`, userAgent: 'x/1' });
    for (let turn = 0; turn < 3; turn++) {
      const types: string[] = [];
      for await (const event of withRetry(client).stream(base, new AbortController().signal)) {
        types.push(event.type);
      }
      expect(types).toEqual(['message_start', 'message_stop']);
      await new Promise((resolve) => setTimeout(resolve, 30));
    }
    server.closeAllConnections();
    server.close();
    expect(connections).toBe(1);
  });
});

describe('failures', () => {
  it.each<[Reply, Partial<ModelFailure>]>([
    [{ error: { status: 403, type: 'permission_error' } }, { kind: 'authentication' }],
    [{ error: { status: 402, type: 'billing_error' } }, { kind: 'billing' }],
    [
      {
        error: {
          status: 400,
          type: 'invalid_request_error',
          message: 'Your credit balance is too low',
        },
      },
      { kind: 'billing', retryable: false },
    ],
    [
      { error: { status: 404, type: 'not_found_error', message: 'model: claude-x' } },
      { kind: 'model_not_found' },
    ],
    [{ error: { status: 413, type: 'request_too_large' } }, { kind: 'prompt_too_long' }],
    [
      {
        error: {
          status: 400,
          type: 'invalid_request_error',
          message: 'input length and `max_tokens` exceed context limit',
        },
      },
      { kind: 'prompt_too_long' },
    ],
    [
      { error: { status: 422, message: 'bad field' } },
      { kind: 'invalid_request', retryable: false },
    ],
    [{ error: { status: 500 } }, { kind: 'server', retryable: true }],
    [{ error: { status: 503 } }, { kind: 'server', retryable: true }],
    [
      { error: { status: 500 }, serve: { headers: { 'x-should-retry': 'false' } } },
      { kind: 'server', retryable: false },
    ],
    [
      { error: { status: 429 }, serve: { headers: { 'retry-after': '7' } } },
      { kind: 'rate_limit', retryAfterMs: 7000 },
    ],
  ])('%j', async (reply, expected) => {
    const { failure } = await setUp([reply]);
    expect(await failure()).toMatchObject({ ...expected, requestId: 'req_script_1' });
  });

  it('understands a retry-after date', async () => {
    const date = new Date(Date.now() + 30_000).toUTCString();
    const { failure } = await setUp([
      { error: { status: 429 }, serve: { headers: { 'retry-after': date } } },
    ]);
    const { retryAfterMs } = await failure();
    expect(retryAfterMs).toBeGreaterThan(20_000);
    expect(retryAfterMs).toBeLessThanOrEqual(30_000);
  });

  it('names the variable to set, never the key', async () => {
    const refused: Reply = { error: { status: 401, type: 'authentication_error' } };
    const withKey = await setUp([refused]);
    expect((await withKey.failure()).remedy).toContain('ANTHROPIC_API_KEY');
    const withToken = await setUp([refused], { apiKey: undefined, authToken: 't' });
    expect((await withToken.failure()).remedy).toContain('ANTHROPIC_AUTH_TOKEN');
    const bare = await setUp([refused], { apiKey: undefined });
    expect((await bare.failure()).remedy).toBe('Set ANTHROPIC_API_KEY or ANTHROPIC_AUTH_TOKEN.');
    expect(JSON.stringify(await (await setUp([refused])).failure())).not.toContain('secret-key');
  });

  it('blames the base URL for pages, unstreamed answers and unknown paths', async () => {
    for (const misbehave of ['html', 'unstreamed'] as const) {
      const { server, failure } = await setUp([{ text: 'x', serve: { misbehave } }]);
      const { kind, remedy, retryable } = await failure();
      expect({ kind, retryable }).toEqual({ kind: 'bad_response', retryable: false });
      expect(remedy).toContain(server.url);
    }
    const { failure } = await setUp([], { baseUrl: 'http://127.0.0.1:9' });
    expect(await failure()).toMatchObject({ kind: 'connection', retryable: true });
    const server = await startFakeModelServer();
    servers.push(server);
    const wrong = await setUp([], { baseUrl: `${server.url}/elsewhere/v2` });
    // The fake server takes any prefix; without an actor's reply it refuses the request itself.
    expect((await wrong.failure()).kind).toBe('invalid_request');
  });

  it('says what could not be read in the stream', async () => {
    const { failure } = await setUp([{ text: 'x', serve: { misbehave: 'malformed_sse' } }]);
    const found = await failure();
    expect(found).toMatchObject({ kind: 'bad_response', retryable: true });
    expect(found.message).toContain('{"type": "content_blo');
  });

  it('gives up on a silent stream', async () => {
    const { failure } = await setUp([{ text: 'x', serve: { misbehave: 'hang_midway' } }], {
      idleTimeoutMs: 40,
    });
    expect(await failure()).toMatchObject({ kind: 'timeout', retryable: true });
  });

  it('takes a reset for a passing failure', async () => {
    const { failure } = await setUp([{ serve: { misbehave: 'reset' } }]);
    expect(await failure()).toMatchObject({ kind: 'connection', retryable: true });
  });
});
