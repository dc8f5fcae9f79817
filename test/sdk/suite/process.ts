import { spawn } from 'node:child_process';
import type { SpawnOptions } from '@anthropic-ai/claude-agent-sdk';
import { describe, expect, it } from 'vitest';
import type { Client } from './client.js';
import { kinds, resultOf, systemOf } from './look.js';
import { play, readAll } from './play.js';
import { makeWorld } from './world.js';

/** What can be seen only where the session runs in a process of its own. */
export function ownProcess(client: Client): void {
  describe.runIf(client.ownProcess)('the process of a session', () => {
    it('can be started by the host itself', async () => {
      let seen: SpawnOptions | undefined;
      let exit: number | null | undefined;
      const played = await play(client, {
        script: ['hello'],
        options: {
          spawnClaudeCodeProcess: (options) => {
            seen = options;
            const { command, args, cwd, env, signal } = options;
            const child = spawn(command, args, {
              cwd,
              env,
              signal,
              stdio: ['pipe', 'pipe', 'ignore'],
            });
            child.on('exit', (code) => {
              exit = code;
            });
            return child;
          },
        },
      });
      expect(resultOf(played)).toMatchObject({ result: 'hello' });
      expect(seen?.args).toEqual(
        expect.arrayContaining(['--output-format', 'stream-json', '--verbose', '--input-format']),
      );
      expect(seen?.cwd).toBe(played.world.project.directory);
      expect(seen?.env.ANTHROPIC_BASE_URL).toBe(played.world.model.url);
      expect(exit).toBe(0);
    });

    it('writes nothing to standard error when all is well, and its reasons when not', async () => {
      const quiet: string[] = [];
      await play(client, {
        script: ['hello'],
        options: { stderr: (data) => void quiet.push(data) },
      });
      expect(quiet.join('')).toBe('');
      const words: string[] = [];
      const played = await play(client, {
        options: { debug: true, stderr: (data) => void words.push(data) },
        script: ['hello'],
      });
      expect(resultOf(played)).toMatchObject({ result: 'hello' });
      expect(words.join('')).not.toBe('');
    });

    it('that refuses to start gives a result with its reasons', async () => {
      const played = await play(client, {
        files: { '.claude/settings.json': '{"permissions": ' },
        script: [],
      });
      expect(kinds(played)).toEqual(['result/error_during_execution']);
      expect(resultOf(played)).toMatchObject({
        is_error: true,
        num_turns: 0,
        errors: [expect.stringContaining('settings.json')],
      });
      expect(played.error?.message).toContain('settings.json');
    });

    it('gets the environment that it was given, and no other', async () => {
      const played = await play(client, {
        script: [{ tool: 'Bash', input: { command: 'echo "$MINE/$VITEST"' } }, 'end'],
        options: { env: { MINE: 'mine' }, allowedTools: ['Bash'] },
      });
      expect(JSON.stringify(played.frames)).toContain('mine/');
      expect(JSON.stringify(played.frames)).not.toContain('mine/true');
    });

    it('can be started before its prompt is known', async () => {
      const world = await makeWorld({ script: ['hello'] });
      const warm = await client.startup({
        options: client.options(world, { systemPrompt: 'You are WARM' }),
      });
      const played = await readAll(warm.query('x'));
      expect(played.error).toBeUndefined();
      expect(kinds(played)).toEqual(['system/init', 'assistant', 'result/success']);
      expect(systemOf(world)).toContain('You are WARM');
    });

    it('started early and not needed goes away', async () => {
      const world = await makeWorld();
      let exited: Promise<number | null> = Promise.resolve(null);
      const warm = await client.startup({
        options: client.options(world, {
          spawnClaudeCodeProcess: ({ command, args, cwd, env, signal }) => {
            const child = spawn(command, args, {
              cwd,
              env,
              signal,
              stdio: ['pipe', 'pipe', 'ignore'],
            });
            exited = new Promise((resolve) => child.on('exit', resolve));
            return child;
          },
        }),
      });
      warm.close();
      expect(await exited).toBe(0);
    });

    it('that is aborted before it began says so', async () => {
      const abort = new AbortController();
      abort.abort();
      const played = await play(client, { script: [], options: { abortController: abort } });
      expect(played.error?.message).toMatch(/abort/i);
      expect(played.world.model.requests).toEqual([]);
    });
  });
}
