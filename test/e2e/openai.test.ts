import { describe, expect, it } from 'vitest';
import type { Scenario } from '../../src/testing/scenario.js';
import { expectContinues, run, transcript } from './worlds.js';

/** The same fake server, spoken to in chat completions. */
const CHAT = {
  ANTHROPIC_BASE_URL: undefined,
  ANTHROPIC_API_KEY: undefined,
  OPENAI_BASE_URL: '{{MODEL}}/v1',
  OPENAI_API_KEY: 'test-key',
};
const chat = (scenario: Scenario) =>
  run({ ...scenario, env: CHAT, args: ['--model', 'local-model', ...(scenario.args ?? [])] });

type ChatMessage = {
  readonly role: string;
  readonly content: unknown;
  readonly tool_calls?: readonly {
    readonly id: string;
    readonly function: { readonly arguments: string };
  }[];
  readonly tool_call_id?: string;
};
const messagesOf = (body: unknown): readonly ChatMessage[] =>
  (body as { messages: ChatMessage[] }).messages;

describe.concurrent('a server that speaks chat completions', () => {
  it('answers a prompt', async () => {
    const done = await chat({ format: 'text', script: ['The answer.'] });
    expect(done).toMatchObject({ exitCode: 0, stdout: 'The answer.\n', stderr: '' });
    const [request] = done.requests;
    expect(request).toMatchObject({
      path: '/v1/chat/completions',
      headers: { authorization: 'Bearer test-key' },
      body: { model: 'local-model', stream: true },
    });
    expect(messagesOf(request?.body).map((message) => message.role)).toEqual(['system', 'user']);
    expect(JSON.stringify(request?.body)).not.toContain('cache_control');
  });

  it('calls tools, one and two at a time, and gets the results in order', async () => {
    const done = await chat({
      files: { 'a.txt': 'alpha\n', 'b.txt': 'beta\n' },
      args: ['--allowedTools', 'Bash'],
      script: [
        { text: 'First one.', tool: 'Bash', input: { command: 'echo "ü $((1+1))"' } },
        {
          blocks: [
            { tool: 'Read', id: 'call_a', input: { file_path: 'a.txt' } },
            { tool: 'Read', id: 'call_b', input: { file_path: 'b.txt' } },
          ],
        },
        { tool: 'Bash', rawInput: '{"command": "echo' },
        'Done.',
      ],
    });
    expect(done).toMatchObject({ exitCode: 0, scriptProblems: [] });
    expect(done.result).toMatchObject({ result: 'Done.', num_turns: 4 });
    const messages = messagesOf(done.requests[3]?.body);
    expect(messages.map((message) => message.role)).toEqual([
      'system',
      'user',
      'assistant',
      'tool',
      'assistant',
      'tool',
      'tool',
      'assistant',
      'tool',
    ]);
    expect(messages[2]).toMatchObject({
      content: 'First one.',
      tool_calls: [{ type: 'function' }],
    });
    expect(messages[3]?.content).toBe('ü 2');
    expect(messages[4]?.tool_calls?.map((call) => call.id)).toEqual(['call_a', 'call_b']);
    expect(messages.slice(5, 7)).toMatchObject([
      { tool_call_id: 'call_a', content: expect.stringContaining('alpha') },
      { tool_call_id: 'call_b', content: expect.stringContaining('beta') },
    ]);
    // Sent back in a form that strict servers accept.
    expect(JSON.parse(messages[7]?.tool_calls?.[0]?.function.arguments ?? '')).toEqual({});
    expect(messages[8]?.content).toContain('not valid JSON');
    for (const [index, message] of messagesOf(done.requests[2]?.body).entries()) {
      expect(messages[index]).toEqual(message);
    }
  });

  it('is shown an image as a data URL', async () => {
    const done = await chat({
      files: { 'pixel.png': { base64: PIXEL } },
      script: [{ tool: 'Read', input: { file_path: 'pixel.png' } }, 'A pixel.'],
    });
    expect(done).toMatchObject({ exitCode: 0, scriptProblems: [] });
    expect(JSON.stringify(messagesOf(done.requests[1]?.body))).toContain(
      '"image_url":{"url":"data:image/png;base64,',
    );
    expect(messagesOf(done.requests[1]?.body).map((message) => message.role)).toEqual([
      'system',
      'user',
      'assistant',
      'tool',
      'user',
    ]);
  });

  it('tells what was used, and that the cost is not known', async () => {
    const usage = { input_tokens: 100, output_tokens: 20, cache_read_input_tokens: 50 };
    const done = await chat({ script: [{ text: 'ok', usage }] });
    expect(done.result).toMatchObject({
      usage: { input_tokens: 100, output_tokens: 20, cache_read_input_tokens: 50 },
      total_cost_usd: 0,
      cost_unknown_models: ['local-model'],
      modelUsage: { 'local-model': { costBasis: 'unknown', inputTokens: 100 } },
    });
  });

  it('goes on with a session, and the transcript reads like any other', async () => {
    const first = await chat({
      prompt: 'FIRST',
      files: { 'a.txt': 'alpha\n' },
      script: [{ tool: 'Read', input: { file_path: 'a.txt' } }, 'one'],
    });
    const next = await chat({
      world: first.world,
      args: ['--continue'],
      prompt: 'SECOND',
      script: ['two'],
    });
    const before = messagesOf(first.requests[1]?.body);
    const after = messagesOf(next.requests[0]?.body);
    expect(after.slice(0, before.length)).toEqual(before);
    expect(after.at(-1)?.content).toContain('SECOND');
    expect(transcript(first).lines.some((line) => line.type === 'assistant')).toBe(true);
    // The other provider can take it over.
    await expectContinues(first, 'FIRST');
  });

  it('is told of like any other when it fails', async () => {
    const done = await chat({ script: [{ error: { status: 401, message: 'bad key' } }] });
    expect(done.exitCode).toBe(1);
    expect(done.result).toMatchObject({
      result: expect.stringMatching(/^API Error: 401: bad key · Check OPENAI_API_KEY/),
      error_kind: 'authentication',
    });
    const cut = await chat({ script: [{ text: 'HALF', cutStream: true }, 'whole'] });
    expect(cut.result).toMatchObject({ result: 'whole' });
    expect(transcript(cut).text).not.toContain('HALF');
  });
});

const PIXEL =
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';
