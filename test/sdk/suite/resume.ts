import { describe, expect, it } from 'vitest';
import type { Client, ClientOptions } from './client.js';
import { asked, resultOf, shown, transcripts } from './look.js';
import { type Played, Prompts, play } from './play.js';

const WANTED = '33333333-3333-4333-8333-333333333333';
const U1 = 'aaaaaaaa-0000-4000-8000-000000000001';
const U2 = 'aaaaaaaa-0000-4000-8000-000000000002';
const sessionOf = (played: Played): string => String(resultOf(played).session_id);

/** Row 11 of the checklist: going on with a session. */
export function resume(client: Client): void {
  const first = (options: ClientOptions = {}) =>
    play(client, { prompt: 'remember TULIP', script: ['noted'], options });
  const next = (before: Played, options: ClientOptions, prompt = 'what was it?') =>
    play(client, { in: before.world, prompt, script: ['TULIP'], options });

  describe('a session', () => {
    it('is gone on with under its id', async () => {
      const before = await first();
      const played = await next(before, { resume: sessionOf(before) });
      expect(resultOf(played)).toMatchObject({ subtype: 'success', result: 'TULIP' });
      expect(sessionOf(played)).toBe(sessionOf(before));
      expect(shown(played.world, 0)).toMatch(/remember TULIP.*noted.*what was it/);
      expect(transcripts(played.world)).toHaveLength(1);
    });

    it('costs, gone on with, what all of it has cost; as a copy only what is new', async () => {
      const before = await first();
      const cost = (played: Played): number => Number(resultOf(played).total_cost_usd);
      const onceMore = await next(before, { resume: sessionOf(before) });
      expect(cost(before)).toBeGreaterThan(0);
      expect(cost(onceMore)).toBeGreaterThan(cost(before));
      const copy = await next(before, { resume: sessionOf(before), forkSession: true });
      expect(cost(copy)).toBeLessThan(cost(onceMore));
      const usage = (played: Played) =>
        Object.values(resultOf(played).modelUsage as Record<string, { costUSD: number }>)
          .map(({ costUSD }) => costUSD)
          .reduce((sum, one) => sum + one, 0);
      expect(usage(onceMore)).toBeCloseTo(cost(onceMore), 10);
    });

    it('is gone on with as a copy', async () => {
      const before = await first();
      const played = await next(before, { resume: sessionOf(before), forkSession: true });
      expect(sessionOf(played)).not.toBe(sessionOf(before));
      expect(shown(played.world, 0)).toMatch(/remember TULIP.*noted.*what was it/);
      const kept = transcripts(played.world);
      expect(kept).toHaveLength(2);
      const old = kept.find((file) => file.id === sessionOf(before));
      expect(JSON.stringify(old?.lines)).not.toContain('what was it');
    });

    it('as a copy takes the id that is asked for', async () => {
      const before = await first();
      const played = await next(before, {
        resume: sessionOf(before),
        forkSession: true,
        sessionId: WANTED,
      });
      expect(sessionOf(played)).toBe(WANTED);
      expect(transcripts(played.world).map((file) => file.id)).toContain(WANTED);
    });

    it('the newest of the folder is gone on with by continue', async () => {
      const before = await first();
      const played = await next(before, { continue: true });
      expect(sessionOf(played)).toBe(sessionOf(before));
      expect(shown(played.world, 0)).toContain('remember TULIP');
    });

    it('new, takes the id that is asked for', async () => {
      const played = await first({ sessionId: WANTED });
      expect(sessionOf(played)).toBe(WANTED);
      expect(transcripts(played.world).map((file) => file.id)).toEqual([WANTED]);
    });

    it('is not written where that is asked for', async () => {
      const played = await first({ persistSession: false });
      expect(resultOf(played)).toMatchObject({ subtype: 'success' });
      expect(transcripts(played.world)).toEqual([]);
    });
  });

  describe('a part of a session', () => {
    const twoTurns = async (): Promise<Played> => {
      const prompts = new Prompts();
      prompts.send('remember TULIP', { uuid: U1 });
      return await play(client, {
        prompt: prompts,
        script: ['noted', 'also noted'],
        onFrame: (frame) => {
          if (frame.type !== 'result') return;
          if (frame.result === 'noted') prompts.send('remember ROSE', { uuid: U2 });
          else prompts.end();
        },
      });
    };
    const entryOf = (played: Played, text: string): string => {
      const [file] = transcripts(played.world);
      const line = file?.lines.find(
        ({ type, message }) => type === 'assistant' && JSON.stringify(message).includes(text),
      );
      return String(line?.uuid);
    };

    it('up to an entry is gone on with, that entry included', async () => {
      const before = await twoTurns();
      const played = await next(before, {
        resume: sessionOf(before),
        resumeSessionAt: entryOf(before, '"noted"'),
      });
      expect(shown(played.world, 0)).toContain('TULIP');
      expect(shown(played.world, 0)).toContain('"noted"');
      expect(shown(played.world, 0)).not.toContain('ROSE');
    });

    it('is refused when more would be lost than the turn that was named', async () => {
      const before = await twoTurns();
      const at = entryOf(before, '"noted"');
      const good = await next(before, {
        resume: sessionOf(before),
        forkSession: true,
        resumeSessionAt: at,
        resumeDropsTurn: U2,
      });
      expect(resultOf(good)).toMatchObject({ subtype: 'success' });
      const bad = await next(before, {
        resume: sessionOf(before),
        resumeSessionAt: at,
        resumeDropsTurn: U1,
      });
      expect(resultOf(bad)).toMatchObject({
        subtype: 'error_during_execution',
        errors: [expect.stringMatching(/^Resume rejected by --resume-drops-turn:/)],
      });
    });

    it('uses the ids that the host gave its prompts', async () => {
      const before = await twoTurns();
      const ids = transcripts(before.world)[0]?.lines.map((line) => line.uuid);
      expect(ids).toContain(U1);
      expect(ids).toContain(U2);
    });
  });

  describe('what cannot be gone on with', () => {
    it('an id that nobody knows is an error, and no model is asked', async () => {
      const played = await play(client, { script: [], options: { resume: WANTED } });
      expect(resultOf(played)).toMatchObject({
        subtype: 'error_during_execution',
        is_error: true,
        num_turns: 0,
        session_id: WANTED,
        errors: [expect.stringContaining(WANTED)],
      });
      expect(played.error?.message).toContain(WANTED);
      expect(asked(played.world)).toEqual([]);
    });

    it('a session id that is taken is an error', async () => {
      const before = await first({ sessionId: WANTED });
      const played = await next(before, { sessionId: WANTED });
      expect(resultOf(played)).toMatchObject({ subtype: 'error_during_execution', is_error: true });
    });
  });
}
