import { describe, expect, it } from 'vitest';
import type { Client } from './client.js';
import { kinds, ofKind, resultOf, shown, texts, theOne, toolResults } from './look.js';
import { Prompts, play } from './play.js';

/** What is answered without the model, and what stands in the place of its answer. */
export function local(client: Client): void {
  describe('a conversation that is cleared', () => {
    it('goes on as a new session, with the servers and the hooks of the host', async () => {
      const prompts = new Prompts();
      const heard: unknown[] = [];
      const later = ['/clear', 'what was it?'];
      const ping = client.tool('ping', 'd', {}, async () => ({
        content: [{ type: 'text', text: 'PONG' }],
      }));
      const note = async ({ session_id: id }: { readonly session_id: string }) => {
        heard.push(id);
        return {};
      };
      prompts.send('remember THE NUMBER');
      const played = await play(client, {
        script: ['one', { tool: 'mcp__s__ping', input: {} }, 'two'],
        prompt: prompts,
        options: {
          allowedTools: ['mcp__s__ping'],
          mcpServers: { s: client.createSdkMcpServer({ name: 's', tools: [ping] }) },
          hooks: { PreToolUse: [{ hooks: [note] }] },
        },
        onFrame(frame) {
          if (frame.type !== 'result') return;
          const next = later.shift();
          if (next === undefined) prompts.end();
          else prompts.send(next);
        },
      });
      const [before, cleared, after] = ofKind(played, 'result');
      const reset = theOne(played, 'conversation_reset');
      expect(cleared).toMatchObject({ num_turns: 0, result: '', is_error: false });
      expect(reset).toMatchObject({ trigger: 'clear', session_id: before?.session_id });
      expect(after?.session_id).toBe(cleared?.session_id);
      expect(after?.session_id).not.toBe(before?.session_id);
      expect(heard).toEqual([after?.session_id]);
      expect(toolResults(played)).toMatchObject([{ text: 'PONG', isError: false }]);
      expect(shown(played.world, 1)).not.toContain('THE NUMBER');
      expect(played.error).toBeUndefined();
    });
  });

  describe('what stands in the place of an answer', () => {
    it('the failure of a model says what it is', async () => {
      const error = { status: 529, type: 'overloaded_error', message: 'BUSY', retryAfterMs: 1 };
      const played = await play(client, { script: [{ error }, { error }] });
      expect(theOne(played, 'assistant')).toMatchObject({
        error: 'overloaded',
        message: { model: '<synthetic>' },
      });
      expect(texts(played)).toEqual([resultOf(played).result]);
    });

    it('a command of the runtime answers by itself', async () => {
      const played = await play(client, { prompt: '/context' });
      expect(kinds(played)).toEqual(['system/init', 'assistant', 'result/success']);
      expect(texts(played)).toEqual([expect.stringContaining('Context Usage')]);
      expect(played.world.model.requests).toEqual([]);
    });
  });
}
