import { describe, expect, it } from 'vitest';
import type { Client, ClientQuery } from './client.js';
import {
  asked,
  blocksIn,
  kindOf,
  ofKind,
  resultOf,
  shown,
  toolResult,
  transcripts,
} from './look.js';
import { type Frame, type Gate, gate, Prompts, play } from './play.js';

const sleep = { tool: 'Bash', input: { command: 'sleep 30' }, id: 'toolu_1' };
const second = '22222222-2222-4222-8222-222222222222';

const isCall = (frame: Frame): boolean =>
  frame.type === 'assistant' && blocksIn(frame).some((block) => block.type === 'tool_use');

const marker = (text: string) => ({ type: 'text', text });
const DURING_TOOLS = marker('[Request interrupted by user for tool use]');
const DURING_STREAM = marker('[Request interrupted by user]');

/** Row 9 of the checklist: interrupts, wherever the turn stands. */
export function interrupt(client: Client): void {
  describe('interrupt', () => {
    it('during a tool ends the tool and the turn', async () => {
      const prompts = new Prompts();
      prompts.send('go');
      let receipt: unknown;
      const started = Date.now();
      const played = await play(client, {
        prompt: prompts,
        script: [sleep],
        options: { allowedTools: ['Bash'] },
        onFrame: (frame, query) => {
          if (frame.type === 'result') prompts.end();
          if (isCall(frame))
            void later(query).then((answer) => {
              receipt = answer;
            });
        },
      });
      expect(Date.now() - started).toBeLessThan(20_000);
      expect(receipt).toMatchObject({ still_queued: [] });
      expect(toolResult(played)).toMatchObject({ id: 'toolu_1', isError: true });
      expect(ofKind(played, 'user').flatMap(blocksIn).at(-1)).toEqual(DURING_TOOLS);
      expect(resultOf(played)).toMatchObject({
        subtype: 'error_during_execution',
        is_error: true,
        terminal_reason: 'aborted_tools',
        stop_reason: 'tool_use',
        errors: [expect.any(String)],
      });
      expect(asked(played.world)).toHaveLength(1);
    });

    it('during the answer ends the turn, and the session goes on', async () => {
      const prompts = new Prompts();
      prompts.send('go');
      const begun: Gate = gate();
      const results: unknown[] = [];
      const played = await play(client, {
        prompt: prompts,
        script: [{ text: 'half an answer', serve: { misbehave: 'hang_midway' } }, 'second answer'],
        options: { includePartialMessages: true },
        onFrame: (frame, query) => {
          if (frame.type === 'stream_event' && !results.includes('interrupted')) {
            results.push('interrupted');
            begun.reach();
            void query.interrupt();
          }
          if (frame.type !== 'result') return;
          if (frame.is_error === true) prompts.send('again');
          else prompts.end();
        },
      });
      await begun.reached;
      expect(ofKind(played, 'result')).toMatchObject([
        {
          subtype: 'error_during_execution',
          is_error: true,
          terminal_reason: 'aborted_streaming',
        },
        { subtype: 'success', result: 'second answer' },
      ]);
      expect(ofKind(played, 'user').flatMap(blocksIn)).toContainEqual(DURING_STREAM);
      expect(shown(played.world, 1)).toContain('again');
    });

    it('while idle is answered, and disturbs nothing', async () => {
      const prompts = new Prompts();
      prompts.send('one');
      let receipt: unknown;
      const played = await play(client, {
        prompt: prompts,
        script: ['first', 'second'],
        onFrame: async (frame, query) => {
          if (frame.type !== 'result') return;
          if (frame.result === 'second') return prompts.end();
          receipt = await query.interrupt();
          prompts.send('two');
        },
      });
      expect(receipt).toMatchObject({ still_queued: [] });
      expect(ofKind(played, 'result')).toMatchObject([{ result: 'first' }, { result: 'second' }]);
    });

    it('leaves what is queued in the queue, and starts it', async () => {
      const prompts = new Prompts();
      prompts.send('go');
      let receipt: unknown;
      const played = await play(client, {
        prompt: prompts,
        script: [sleep, 'second answer'],
        options: { allowedTools: ['Bash'] },
        onFrame: async (frame, query) => {
          if (isCall(frame)) {
            prompts.send('the queued one', { uuid: second });
            receipt = await later(query);
          }
          if (frame.type === 'result' && frame.is_error !== true) prompts.end();
        },
      });
      expect(receipt).toMatchObject({ still_queued: [second] });
      expect(ofKind(played, 'result')).toMatchObject([
        { terminal_reason: 'aborted_tools' },
        { subtype: 'success', result: 'second answer' },
      ]);
      expect(played.frames.map(kindOf).filter((kind) => kind === 'system/init')).toHaveLength(2);
      expect(shown(played.world, 1)).toContain('the queued one');
    });

    it('withdraws a question that is open', async () => {
      const prompts = new Prompts();
      prompts.send('go');
      const withdrawn = gate();
      const played = await play(client, {
        prompt: prompts,
        script: [{ ...sleep, input: { command: 'mkdir d' } }],
        options: {
          canUseTool: (_tool, _input, { signal }) =>
            new Promise((resolve) => {
              signal.addEventListener('abort', () => {
                withdrawn.reach();
                resolve({ behavior: 'allow' });
              });
            }),
        },
        onFrame: (frame, query) => {
          if (isCall(frame)) void later(query);
          if (frame.type === 'result') prompts.end();
        },
      });
      await withdrawn.reached;
      expect(played.world.project.exists('d')).toBe(false);
      expect(resultOf(played)).toMatchObject({ terminal_reason: 'aborted_tools' });
    });
  });

  ends(client);
}

/** A moment later, so that the call is under way. */
async function later(query: ClientQuery): Promise<unknown> {
  await new Promise((resolve) => setTimeout(resolve, 400));
  return await query.interrupt();
}

/** Row 18 of the checklist: who goes away leaves a transcript that can be gone on with. */
function ends(client: Client): void {
  describe('a client that goes away', () => {
    const goAway: Record<string, (query: ClientQuery, abort: AbortController) => void> = {
      'by close()': (query) => query.close(),
      'by its AbortController': (_query, abort) => abort.abort(),
    };
    for (const [name, leave] of Object.entries(goAway)) {
      it(`${name} in the middle of a tool ends soon, with its transcript written`, async () => {
        const abort = new AbortController();
        const started = Date.now();
        const played = await play(client, {
          prompt: 'remember me',
          script: [sleep],
          options: { allowedTools: ['Bash'], abortController: abort },
          onFrame: (frame, query) => {
            if (isCall(frame)) setTimeout(() => leave(query, abort), 300);
          },
        });
        expect(Date.now() - started).toBeLessThan(15_000);
        if (name.includes('Abort')) expect(played.error?.message).toMatch(/abort/i);
        const kept = await transcriptOf(played);
        expect(JSON.stringify(kept.lines)).toContain('remember me');
        const next = await play(client, {
          in: played.world,
          prompt: 'and now?',
          script: ['I do'],
          options: { resume: kept.id },
        });
        expect(resultOf(next)).toMatchObject({ subtype: 'success', result: 'I do' });
        expect(shown(next.world, 0)).toContain('remember me');
      });
    }
  });
}

async function transcriptOf(played: { world: Parameters<typeof transcripts>[0] }) {
  for (let tries = 0; tries < 100; tries++) {
    const [only] = transcripts(played.world);
    if (only !== undefined) return only;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  throw new Error('no transcript was written');
}
