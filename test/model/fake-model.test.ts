import { describe, expect, it } from 'vitest';
import { anthropicClient } from '../../src/model/anthropic/client.js';
import type { ModelClient, ModelRequest } from '../../src/model/client.js';
import { openAiClient } from '../../src/model/openai/client.js';
import { MessageAccumulator } from '../../src/model/stream/accumulate.js';
import { withRetry } from '../../src/model/stream/retry.js';
import { FakeModel } from '../../src/testing/fake-model.js';
import { startFakeModelServer } from '../../src/testing/fake-model-server.js';

function request(text: string, system = ''): ModelRequest {
  return {
    model: 'fake',
    system: [{ type: 'text', text: system }],
    tools: [],
    messages: [{ role: 'user', content: [{ type: 'text', text }] }],
    maxTokens: 10,
  };
}

async function say(client: ModelClient, asked: ModelRequest): Promise<string> {
  const fold = new MessageAccumulator();
  for await (const event of client.stream(asked, new AbortController().signal)) {
    if (event.type === 'failure') return `failure: ${event.failure.message}`;
    fold.push(event);
  }
  return fold
    .answer()
    .content.map((block) => (block.type === 'text' ? block.text : block.type))
    .join();
}

describe('FakeModel', () => {
  it('records requests as they were and complains about both kinds of left-overs', async () => {
    const model = FakeModel.script(['one', { text: 'two', when: 'second' }]);
    const first = request('first');
    expect(await say(model, first)).toBe('one');
    expect(model.requests).toEqual([first]);
    expect(() => model.assertDone()).toThrow('reply 2 of "main" was never asked for');
    expect(await say(model, request('third'))).toContain(
      'no "when" of the 1 replies left of "main" holds',
    );
    expect(await say(model, request('the second one'))).toBe('two');
    expect(await say(model, request('more'))).toContain('all 2 replies of "main" are played');
    expect(() => model.assertDone()).toThrow('no reply for request 4');
  });

  it('knows actors apart and lets replies be computed', async () => {
    const model = FakeModel.actors([
      {
        name: 'helper',
        match: { system: 'helper' },
        replies: [(view) => `turn ${view.turn}: ${view.lastUser}`],
      },
      { name: 'main', replies: ['main here'] },
    ]);
    expect(await say(model, request('x'))).toBe('main here');
    expect(await say(model, request('y', 'You are a helper.'))).toBe('turn 0: y');
    model.assertDone();
  });
});

describe('the fake model server', () => {
  it('plays the same script in both flavours', async () => {
    const server = await startFakeModelServer({
      actors: [
        { name: 'chat', match: 'in chat', replies: [{ text: 'chat', when: 'go' }] },
        { name: 'messages', match: { lastUser: 'go' }, replies: ['messages'] },
      ],
    });
    const userAgent = 'portcullis/test';
    const anthropic = anthropicClient({ baseUrl: server.url, userAgent });
    const chat = openAiClient({ baseUrl: `${server.url}/v1`, userAgent });
    expect(await say(anthropic, request('go'))).toBe('messages');
    expect(await say(chat, request('go', 'You are in chat.'))).toBe('chat');
    server.assertDone();
    expect(await say(anthropic, request('go'))).toContain('all 1 replies of "messages" are played');
    expect(server.requests.map((made) => made.flavour)).toEqual(['anthropic', 'chat', 'anthropic']);
    expect(() => server.assertDone()).toThrow();
    await server.close();
  });

  it('shows that retries carry a client over errors and cut streams', async () => {
    const server = await startFakeModelServer({
      script: [
        { error: { status: 529, type: 'overloaded_error' } },
        { text: 'half of it', cutStream: true },
        { serve: { misbehave: 'reset' } },
        'whole',
      ],
    });
    const client = withRetry(
      anthropicClient({ baseUrl: server.url, userAgent: 'portcullis/test' }),
      {
        sleep: async () => {},
      },
    );
    expect(await say(client, request('go'))).toBe('whole');
    server.assertDone();
    await server.close();
  });
});
