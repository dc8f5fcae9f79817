import path from 'node:path';
import type { HookInput } from '@anthropic-ai/claude-agent-sdk';
import { describe, expect, it } from 'vitest';
import type { Client } from './client.js';
import { toolResult } from './look.js';
import { play } from './play.js';
import { makeWorld } from './world.js';

/** The spellings under which a model may name a file beside the project. */
const SPELLINGS: Readonly<Record<string, (project: string) => string>> = {
  'relative, with ..': () => '../secret/x.txt',
  'absolute, with ..': (project) => `${project}/../secret/x.txt`,
  'with . and doubled slashes': () => './/..//secret/./x.txt',
  plain: (project) => path.join(path.dirname(project), 'secret/x.txt'),
};

const HEARD_BY = ['canUseTool', 'PreToolUse', 'PermissionRequest', 'PostToolUse'] as const;

/** Whoever judges a call sees the path that the call means, however the model spells it. */
export function paths(client: Client): void {
  describe('a path in the input of a call', () => {
    for (const [name, spelled] of Object.entries(SPELLINGS)) {
      it(`${name}: a host that denies the directory is not passed`, async () => {
        const seen: unknown[] = [];
        const first = await makeWorld();
        const { directory } = first.project;
        const denied = path.join(path.dirname(directory), 'secret');
        const input = { file_path: spelled(directory), content: 'z' };
        const played = await play(client, {
          in: first,
          script: [{ tool: 'Write', input, id: 'toolu_1' }, 'end'],
          options: {
            canUseTool: async (_tool, { file_path }) => {
              seen.push(file_path);
              return String(file_path).startsWith(denied)
                ? { behavior: 'deny', message: 'KEEP OUT' }
                : { behavior: 'allow' };
            },
          },
        });
        expect(seen).toEqual([path.join(path.dirname(directory), 'secret/x.txt')]);
        expect(toolResult(played)).toMatchObject({ isError: true, text: 'KEEP OUT' });
      });
    }

    it('is absolute for every callback, and so is what an answer puts in its place', async () => {
      const heard: Record<string, unknown> = {};
      const hear = (event: string) => [
        {
          hooks: [
            async (input: HookInput) => {
              if ('tool_input' in input) heard[event] = (input.tool_input as Input).file_path;
              return {};
            },
          ],
        },
      ];
      const played = await play(client, {
        script: [{ tool: 'Write', input: { file_path: 'a/../b.txt', content: 'z' } }, 'end'],
        options: {
          canUseTool: async (_tool, input) => {
            heard.canUseTool = input.file_path;
            return { behavior: 'allow', updatedInput: { ...input, file_path: 'c/../d.txt' } };
          },
          hooks: {
            PreToolUse: hear('PreToolUse'),
            PermissionRequest: hear('PermissionRequest'),
            PostToolUse: hear('PostToolUse'),
          },
        },
      });
      const { project } = played.world;
      const before = project.at('b.txt');
      const after = project.at('d.txt');
      expect(Object.keys(heard).sort()).toEqual([...HEARD_BY].sort());
      expect(heard).toEqual({
        canUseTool: before,
        PermissionRequest: before,
        // Asked first about what the model wants, then about what the host made of it.
        PreToolUse: after,
        PostToolUse: after,
      });
      expect(project.read('d.txt')).toBe('z');
    });
  });
}

type Input = Readonly<Record<string, unknown>>;
