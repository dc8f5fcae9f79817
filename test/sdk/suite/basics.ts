import { describe, expect, it } from 'vitest';
import type { Client } from './client.js';
import {
  asked,
  kinds,
  ofKind,
  resultOf,
  shown,
  systemOf,
  texts,
  theOne,
  toolResult,
} from './look.js';
import { allAtOnce, Prompts, play, userMessage } from './play.js';

/** Rows 1 to 3 of the checklist: prompts in, one init and one result each out. */
export function basics(client: Client): void {
  describe('one prompt', () => {
    it('gives one init, the answer, one result and a clean end', async () => {
      const played = await play(client, { prompt: 'x', script: ['hello'] });
      expect(played.error).toBeUndefined();
      expect(kinds(played)).toEqual(['system/init', 'assistant', 'result/success']);
      expect(theOne(played, 'system/init')).toMatchObject({
        cwd: played.world.project.directory,
        apiKeySource: 'ANTHROPIC_API_KEY',
        claude_code_version: expect.stringMatching(/^2\.1\.\d+/),
        tools: expect.arrayContaining([
          'Bash',
          'Edit',
          'Glob',
          'Grep',
          'Read',
          'TodoWrite',
          'Write',
        ]),
        mcp_servers: [],
        model: expect.stringMatching(/./),
        permissionMode: 'default',
        slash_commands: expect.any(Array),
        output_style: 'default',
        skills: expect.any(Array),
        plugins: [],
      });
      expect(theOne(played, 'assistant')).toMatchObject({
        message: {
          type: 'message',
          role: 'assistant',
          content: [{ type: 'text', text: 'hello' }],
          stop_reason: null,
          stop_sequence: null,
          usage: { input_tokens: 10, output_tokens: 5 },
        },
        parent_tool_use_id: null,
      });
      expect(resultOf(played)).toMatchObject({
        subtype: 'success',
        is_error: false,
        result: 'hello',
        num_turns: 1,
        stop_reason: 'end_turn',
        terminal_reason: 'completed',
        usage: { input_tokens: 10, output_tokens: 5 },
        permission_denials: [],
        duration_ms: expect.any(Number),
        duration_api_ms: expect.any(Number),
        total_cost_usd: expect.any(Number),
      });
    });

    it('is the same session in every frame, each frame under its own id', async () => {
      const played = await play(client, {
        script: [{ tool: 'Bash', input: { command: 'echo a' } }, 'b'],
      });
      const ids = new Set(played.frames.map((frame) => frame.session_id));
      expect([...ids]).toEqual([expect.stringMatching(/^[0-9a-f-]{36}$/)]);
      const uuids = played.frames.map((frame) => frame.uuid);
      expect(new Set(uuids).size).toBe(played.frames.length);
    });

    it('reaches the model as it was written', async () => {
      const { world } = await play(client, { prompt: 'Grüße, 世界', script: ['ok'] });
      expect(shown(world, 0)).toContain('Grüße, 世界');
      expect(asked(world)).toHaveLength(1);
    });

    it('without a system prompt sends the minimal one', async () => {
      const { world } = await play(client, { script: ['ok'] });
      const whole = await play(client, {
        script: ['ok'],
        options: { systemPrompt: { type: 'preset', preset: 'claude_code' } },
      });
      expect(systemOf(world).length).toBeLessThan(systemOf(whole.world).length);
    });

    it('emits one message per block, all of one answer under one id', async () => {
      const played = await play(client, {
        script: [
          { blocks: ['first', { tool: 'Bash', input: { command: 'echo out' }, id: 'toolu_a' }] },
          'end',
        ],
      });
      const [first, call] = ofKind(played, 'assistant') as { message: Record<string, unknown> }[];
      expect(first?.message.content).toEqual([{ type: 'text', text: 'first' }]);
      expect(call?.message.content).toMatchObject([
        { type: 'tool_use', id: 'toolu_a', name: 'Bash', input: { command: 'echo out' } },
      ]);
      expect(call?.message.id).toBe(first?.message.id);
      expect(toolResult(played)).toMatchObject({
        id: 'toolu_a',
        text: 'out',
        isError: false,
        structured: { stdout: 'out', stderr: '', interrupted: false },
        parent: null,
      });
      expect(resultOf(played)).toMatchObject({ num_turns: 2, result: 'end' });
    });

    it('streams with partial messages, each block ended after its message', async () => {
      const played = await play(client, {
        script: ['hello'],
        options: { includePartialMessages: true },
      });
      const order = played.frames.flatMap((frame) =>
        frame.type === 'stream_event'
          ? [(frame.event as { type: string }).type]
          : frame.type === 'assistant'
            ? ['ASSISTANT']
            : [],
      );
      expect(order.filter((name, index) => name !== order[index - 1])).toEqual([
        'message_start',
        'content_block_start',
        'content_block_delta',
        'ASSISTANT',
        'content_block_stop',
        'message_delta',
        'message_stop',
      ]);
      const delta = played.frames.find(
        (frame) => (frame.event as { type?: string } | undefined)?.type === 'content_block_delta',
      );
      expect(delta).toMatchObject({
        parent_tool_use_id: null,
        event: { index: 0, delta: { type: 'text_delta', text: expect.stringMatching(/^h/) } },
      });
    });

    it('emits no stream events without asking', async () => {
      expect(ofKind(await play(client, { script: ['hello'] }), 'stream_event')).toEqual([]);
    });
  });

  describe('a stream of prompts', () => {
    it('that ends at once is still answered', async () => {
      const played = await play(client, {
        prompt: allAtOnce('one'),
        script: [{ text: 'late', delayMs: 300 }],
      });
      expect(played.error).toBeUndefined();
      expect(kinds(played)).toEqual(['system/init', 'assistant', 'result/success']);
      expect(resultOf(played)).toMatchObject({ result: 'late' });
    });

    it('with two prompts is two turns of one session', async () => {
      const prompts = new Prompts();
      prompts.send('one');
      const played = await play(client, {
        prompt: prompts,
        script: ['first', 'second'],
        onFrame: (frame) => {
          if (frame.type !== 'result') return;
          if (frame.result === 'first') prompts.send('two');
          else prompts.end();
        },
      });
      expect(played.error).toBeUndefined();
      expect(kinds(played)).toEqual([
        'system/init',
        'assistant',
        'result/success',
        'system/init',
        'assistant',
        'result/success',
      ]);
      expect(texts(played)).toEqual(['first', 'second']);
      expect(new Set(played.frames.map((frame) => frame.session_id)).size).toBe(1);
      expect(shown(played.world, 1)).toContain('first');
    });

    it('counts the cost of the process and the usage of the turn', async () => {
      const prompts = new Prompts();
      prompts.send('one');
      const played = await play(client, {
        prompt: prompts,
        script: ['first', 'second'],
        onFrame: (frame) => {
          if (frame.type !== 'result') return;
          if (frame.result === 'first') prompts.send('two');
          else prompts.end();
        },
      });
      const [one, two] = ofKind(played, 'result') as {
        total_cost_usd: number;
        usage: { input_tokens: number };
        modelUsage: Record<string, { inputTokens: number }>;
      }[];
      expect(one?.total_cost_usd).toBeGreaterThan(0);
      expect(two?.total_cost_usd).toBeCloseTo(2 * (one?.total_cost_usd ?? 0), 10);
      expect(two?.usage.input_tokens).toBe(10);
      expect(Object.values(two?.modelUsage ?? {})).toMatchObject([
        { inputTokens: 20, outputTokens: 10 },
      ]);
    });

    it('takes blocks, and echoes the id that the host gave where it asks for that', async () => {
      const uuid = '11111111-2222-4333-8444-555555555555';
      async function* one() {
        yield userMessage('', {
          uuid,
          message: {
            role: 'user',
            content: [
              { type: 'text', text: 'look at this' },
              {
                type: 'image',
                source: { type: 'base64', media_type: 'image/png', data: PIXEL },
              },
            ],
          },
        });
      }
      const played = await play(client, {
        prompt: one(),
        script: ['seen'],
        options: { extraArgs: { 'replay-user-messages': null } },
      });
      expect(shown(played.world, 0)).toContain('look at this');
      expect(shown(played.world, 0)).toContain(PIXEL);
      expect(played.frames.find((frame) => frame.isReplay === true)).toMatchObject({
        type: 'user',
        uuid,
      });
      expect(theOne(played, 'assistant')).toMatchObject({ user_message_uuid: uuid });
    });
  });
}

const PIXEL =
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';
