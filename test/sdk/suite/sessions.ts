import path from 'node:path';
import { afterEach, describe, expect, it, vi } from 'vitest';
import type { Client } from './client.js';
import { resultOf, shown, transcripts } from './look.js';
import { type Played, play } from './play.js';

/** Row 15 of the checklist: the library's own functions on the transcripts that we write. */
export function sessions(client: Client): void {
  afterEach(() => vi.unstubAllEnvs());

  const kept = async (options: Parameters<typeof play>[1] = {}) => {
    const played = await play(client, {
      prompt: 'remember TULIP',
      script: [{ tool: 'Bash', input: { command: 'echo hi' }, id: 'toolu_1' }, 'noted'],
      ...options,
    });
    // The functions look where the host's own environment says.
    vi.stubEnv('CLAUDE_CONFIG_DIR', path.join(played.world.project.home, '.claude'));
    return { played, id: String(resultOf(played).session_id), dir: dirOf(played) };
  };

  describe('the functions for sessions', () => {
    it('list a session under its first prompt', async () => {
      const { id, dir } = await kept();
      const found = await client.listSessions({ dir });
      expect(found).toMatchObject([
        {
          sessionId: id,
          summary: expect.stringContaining('remember TULIP'),
          firstPrompt: 'remember TULIP',
          cwd: dir,
        },
      ]);
      expect(await client.getSessionInfo(id, { dir })).toMatchObject({ sessionId: id });
      expect(await client.getSessionInfo(UNKNOWN, { dir })).toBeUndefined();
    });

    it('give its messages, as a chain', async () => {
      const { id, dir } = await kept();
      const messages = await client.getSessionMessages(id, { dir });
      expect(messages.map(({ type }) => type)).toEqual(['user', 'assistant', 'user', 'assistant']);
      expect(JSON.stringify(messages[0]?.message)).toContain('remember TULIP');
      expect(JSON.stringify(messages[1]?.message)).toContain('toolu_1');
      expect(messages[2]?.message).toMatchObject({
        role: 'user',
        content: [{ type: 'tool_result', tool_use_id: 'toolu_1' }],
      });
      expect(JSON.stringify(messages[3]?.message)).toContain('noted');
      expect(messages.every((message) => message.session_id === id)).toBe(true);
    });

    it('rename it and tag it, and it can still be gone on with', async () => {
      const { played, id, dir } = await kept();
      await client.renameSession(id, 'My title', { dir });
      await client.tagSession(id, 'flowers', { dir });
      expect(await client.getSessionInfo(id, { dir })).toMatchObject({
        customTitle: 'My title',
        summary: 'My title',
        tag: 'flowers',
      });
      const next = await play(client, {
        in: played.world,
        prompt: 'which?',
        script: ['TULIP'],
        options: { resume: id },
      });
      expect(shown(next.world, 0)).toContain('remember TULIP');
      expect(await client.getSessionInfo(id, { dir })).toMatchObject({ customTitle: 'My title' });
    });

    it('fork it, and the copy can be gone on with', async () => {
      const { played, id, dir } = await kept();
      const { sessionId } = await client.forkSession(id, { dir });
      expect(sessionId).not.toBe(id);
      expect(await client.listSessions({ dir })).toHaveLength(2);
      const next = await play(client, {
        in: played.world,
        prompt: 'which?',
        script: ['TULIP'],
        options: { resume: sessionId },
      });
      expect(resultOf(next)).toMatchObject({ subtype: 'success', session_id: sessionId });
      expect(shown(next.world, 0)).toMatch(/remember TULIP.*toolu_1.*noted.*which\?/);
    });

    it('fork a part of it', async () => {
      const { id, dir } = await kept();
      const [first] = await client.getSessionMessages(id, { dir });
      const { sessionId } = await client.forkSession(id, { dir, upToMessageId: first?.uuid ?? '' });
      expect(await client.getSessionMessages(sessionId, { dir })).toHaveLength(1);
    });

    it('delete it', async () => {
      const { played, id, dir } = await kept();
      await client.deleteSession(id, { dir });
      expect(await client.listSessions({ dir })).toEqual([]);
      expect(transcripts(played.world)).toEqual([]);
      const next = await play(client, { in: played.world, options: { resume: id } });
      expect(resultOf(next)).toMatchObject({ subtype: 'error_during_execution' });
    });

    it('give the messages of its agents', async () => {
      const { id, dir } = await kept({
        actors: [
          {
            name: 'helper',
            match: { system: 'You help' },
            replies: [{ tool: 'Bash', input: { command: 'echo sub' } }, 'sub done'],
          },
          {
            name: 'main',
            replies: [
              {
                tool: 'Agent',
                id: 'toolu_a',
                input: { description: 'd', prompt: 'do it', subagent_type: 'helper' },
              },
              'noted',
            ],
          },
        ],
        options: { agents: { helper: { description: 'helps', prompt: 'You help' } } },
      });
      const [agent, ...others] = await client.listSubagents(id, { dir });
      expect(others).toEqual([]);
      const all = await client.getSubagentMessages(id, agent ?? '', { dir });
      const messages = all.filter(
        ({ message }) => !JSON.stringify(message).includes('<system-rem'),
      );
      expect(messages.map(({ type }) => type)).toEqual(['user', 'assistant', 'user', 'assistant']);
      expect(JSON.stringify(messages[0]?.message)).toContain('do it');
      expect(await client.getSessionMessages(id, { dir })).toHaveLength(4);
    });
  });
}

const UNKNOWN = '99999999-9999-4999-8999-999999999999';

function dirOf(played: Played): string {
  return played.world.project.directory;
}
