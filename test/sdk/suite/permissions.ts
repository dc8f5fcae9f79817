import type { CanUseTool, PermissionResult } from '@anthropic-ai/claude-agent-sdk';
import { describe, expect, it } from 'vitest';
import type { Client, ClientOptions } from './client.js';
import { asked, blocksIn, ofKind, resultOf, toolResult, toolResults } from './look.js';
import { play } from './play.js';

const write = (name: string) => ({ tool: 'Write', input: { file_path: name, content: 'z' } });
const mkdir = (name: string) => ({ tool: 'Bash', input: { command: `mkdir ${name}` } });

/** Row 7 of the checklist: the host's own word on a call. */
export function permissions(client: Client): void {
  const withAnswer = (
    answer: (call: number) => unknown,
    script: readonly Parameters<typeof write>[0][] = ['z.txt'],
    options: ClientOptions = {},
  ) => {
    const asks: { tool: string; context: Parameters<CanUseTool>[2] }[] = [];
    const canUseTool: CanUseTool = async (tool, _input, context) => {
      asks.push({ tool, context });
      return answer(asks.length) as PermissionResult;
    };
    const replies = script.map((name, index) => ({ ...write(name), id: `toolu_${index + 1}` }));
    return play(client, {
      script: [...replies, 'end'],
      options: { ...options, canUseTool },
    }).then((played) => ({ ...played, asks }));
  };
  const refusedQuietly = {
    subtype: 'success',
    result: 'end',
    permission_denials: [{ tool_use_id: 'toolu_1' }],
  };

  describe('canUseTool', () => {
    it('is told what is asked, with what would spare the next question', async () => {
      const { asks, world } = await withAnswer(() => ({ behavior: 'allow' }));
      expect(asks).toMatchObject([
        {
          tool: 'Write',
          context: {
            toolUseID: 'toolu_1',
            displayName: 'Write',
            suggestions: [{ type: 'setMode', mode: 'acceptEdits', destination: 'session' }],
          },
        },
      ]);
      expect(asks[0]?.context.signal.aborted).toBe(false);
      expect(asks[0]?.context.agentID).toBeUndefined();
      expect(world.project.read('z.txt')).toBe('z');
    });

    it('allow without a new input runs what was asked', async () => {
      const played = await withAnswer(() => ({ behavior: 'allow' }));
      expect(toolResult(played)).toMatchObject({
        isError: false,
        structured: { type: 'create', content: 'z', originalFile: null },
      });
      expect(resultOf(played)).toMatchObject({ permission_denials: [], num_turns: 2 });
    });

    it('allow with a new input runs that', async () => {
      const played = await withAnswer(() => ({
        behavior: 'allow',
        updatedInput: { file_path: 'z.txt', content: 'CHANGED' },
      }));
      expect(played.world.project.read('z.txt')).toBe('CHANGED');
      const [call] = ofKind(played, 'assistant').flatMap(blocksIn);
      expect(call).toMatchObject({ input: { content: 'z' } });
    });

    it('a plain allow holds for one call only', async () => {
      const { asks } = await withAnswer(() => ({ behavior: 'allow' }), ['a.txt', 'b.txt']);
      expect(asks).toHaveLength(2);
    });

    it("deny tells the model the host's words, and the turn goes on", async () => {
      const played = await withAnswer(() => ({ behavior: 'deny', message: 'NOT TODAY' }));
      expect(toolResult(played)).toMatchObject({ isError: true, text: 'NOT TODAY' });
      expect(played.world.project.exists('z.txt')).toBe(false);
      expect(resultOf(played)).toMatchObject({
        ...refusedQuietly,
        permission_denials: [
          { tool_name: 'Write', tool_use_id: 'toolu_1', tool_input: { content: 'z' } },
        ],
      });
    });

    it('deny with interrupt ends the turn', async () => {
      const played = await withAnswer(() => ({ behavior: 'deny', message: 'NO', interrupt: true }));
      expect(resultOf(played)).toMatchObject({
        subtype: 'error_during_execution',
        is_error: true,
        terminal_reason: 'aborted_tools',
        stop_reason: 'tool_use',
      });
      expect(asked(played.world)).toHaveLength(1);
      expect(ofKind(played, 'user').flatMap(blocksIn)).toContainEqual({
        type: 'text',
        text: '[Request interrupted by user for tool use]',
      });
      expect(played.error?.message ?? '').toMatch(client.ownProcess ? /error result/ : /./);
    });

    const broken: Record<string, () => unknown> = {
      throws: () => {
        throw new Error('BROKEN');
      },
      'answers with a word': () => 'yes',
      'answers with another behaviour': () => ({ behavior: 'perhaps' }),
      'allows with an input that is none': () => ({ behavior: 'allow', updatedInput: 'rm' }),
      'allows with updates that are none': () => ({ behavior: 'allow', updatedPermissions: 'all' }),
      'denies without words': () => ({ behavior: 'deny' }),
    };
    for (const [name, answer] of Object.entries(broken)) {
      it(`that ${name} refuses`, async () => {
        const played = await withAnswer(answer);
        expect(played.world.project.exists('z.txt')).toBe(false);
        expect(toolResult(played).isError).toBe(true);
        expect(resultOf(played)).toMatchObject(refusedQuietly);
      });
    }

    it('does not outrank a deny rule, which is not even asked about', async () => {
      const played = await withAnswer(() => ({ behavior: 'allow' }), ['z.txt'], {
        settings: { permissions: { deny: ['Edit(z.txt)'] } },
      });
      expect(played.asks).toEqual([]);
      expect(played.world.project.exists('z.txt')).toBe(false);
    });

    it('may not swap in an input that a deny rule forbids', async () => {
      const played = await withAnswer(
        () => ({ behavior: 'allow', updatedInput: { file_path: 'forbidden.txt', content: 'z' } }),
        ['z.txt'],
        { settings: { permissions: { deny: ['Edit(forbidden.txt)'] } } },
      );
      expect(played.world.project.exists('forbidden.txt')).toBe(false);
      expect(toolResult(played).isError).toBe(true);
    });
  });

  updates(client);

  describe('without canUseTool', () => {
    it('what would be asked is refused, and told so', async () => {
      const played = await play(client, { script: [{ ...write('z.txt'), id: 'toolu_1' }, 'end'] });
      expect(played.world.project.exists('z.txt')).toBe(false);
      expect(resultOf(played)).toMatchObject(refusedQuietly);
      expect(ofKind(played, 'system/permission_denied')).toMatchObject([
        { tool_name: 'Write', tool_use_id: 'toolu_1', message: expect.stringMatching(/./) },
      ]);
    });
  });
}

function updates(client: Client): void {
  describe('updatedPermissions', () => {
    it('a rule for localSettings is written there and spares the next question', async () => {
      const asks: string[] = [];
      const played = await play(client, {
        script: [mkdir('one'), mkdir('two'), 'end'],
        options: {
          canUseTool: async (tool) => {
            asks.push(tool);
            return {
              behavior: 'allow',
              updatedPermissions: [
                {
                  type: 'addRules',
                  rules: [{ toolName: 'Bash', ruleContent: 'mkdir *' }],
                  behavior: 'allow',
                  destination: 'localSettings',
                },
              ],
            };
          },
        },
      });
      expect(asks).toEqual(['Bash']);
      const { project } = played.world;
      expect([project.exists('one'), project.exists('two')]).toEqual([true, true]);
      expect(JSON.parse(project.read('.claude/settings.local.json'))).toMatchObject({
        permissions: { allow: ['Bash(mkdir *)'] },
      });
    });

    it('a mode is taken for the session and told', async () => {
      const asks: string[] = [];
      const played = await play(client, {
        script: [write('a.txt'), write('b.txt'), 'end'],
        options: {
          canUseTool: async (tool, _input, { suggestions }) => {
            asks.push(tool);
            return {
              behavior: 'allow',
              ...(suggestions === undefined ? {} : { updatedPermissions: suggestions }),
            };
          },
        },
      });
      expect(asks).toEqual(['Write']);
      expect(toolResults(played).map(({ isError }) => isError)).toEqual([false, false]);
      expect(ofKind(played, 'system/status')).toMatchObject([
        { status: null, permissionMode: 'acceptEdits' },
      ]);
      expect(played.world.project.exists('.claude/settings.local.json')).toBe(false);
    });

    it('a session rule is not written anywhere', async () => {
      const asks: string[] = [];
      const played = await play(client, {
        script: [write('a.txt'), write('a.txt'), 'end'],
        options: {
          canUseTool: async (tool) => {
            asks.push(tool);
            return {
              behavior: 'allow',
              updatedPermissions: [
                {
                  type: 'addRules',
                  rules: [{ toolName: 'Write' }],
                  behavior: 'allow',
                  destination: 'session',
                },
              ],
            };
          },
        },
      });
      expect(asks).toEqual(['Write']);
      expect(played.world.project.exists('.claude')).toBe(false);
    });

    it('a deny rule that comes with an allow binds from then on', async () => {
      const played = await play(client, {
        script: [mkdir('one'), mkdir('two'), 'end'],
        options: {
          canUseTool: async () => ({
            behavior: 'allow',
            updatedPermissions: [
              {
                type: 'addRules',
                rules: [{ toolName: 'Bash', ruleContent: 'mkdir two' }],
                behavior: 'deny',
                destination: 'session',
              },
            ],
          }),
        },
      });
      const { project } = played.world;
      expect([project.exists('one'), project.exists('two')]).toEqual([true, false]);
    });
  });
}
