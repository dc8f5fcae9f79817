import type { HookInput } from '@anthropic-ai/claude-agent-sdk';
import { describe, expect, it } from 'vitest';
import { isRecord } from '../../../src/lib/own.js';
import type { Client, ClientOptions, ClientQuery } from './client.js';
import { asked, ofKind, resultOf, theOne, toolResult } from './look.js';
import { type Frame, Prompts, play } from './play.js';
import type { Script } from './world.js';

/** Row 10 of the checklist: what a host asks of a running session. */
export function control(client: Client): void {
  /** One turn, then the questions, then another turn. */
  const between = async (
    questions: (query: ClientQuery) => Promise<void>,
    options: ClientOptions = {},
    script: Script = ['first', 'second'],
  ) => {
    const prompts = new Prompts();
    prompts.send('one');
    let done = false;
    let failed: unknown;
    const played = await play(client, {
      prompt: prompts,
      script,
      options,
      onFrame: async (frame, query) => {
        if (frame.type !== 'result') return;
        if (done) return prompts.end();
        done = true;
        await questions(query).catch((thrown: unknown) => {
          failed = thrown;
        });
        prompts.send('two');
      },
    });
    if (failed !== undefined) throw failed;
    return played;
  };
  const inits = (played: { frames: readonly Frame[] }) => ofKind(played, 'system/init');
  const modelOf = (body: unknown): unknown => (isRecord(body) ? body.model : undefined);

  describe('what is asked at the start', () => {
    it('is answered once and for all', async () => {
      let facts: unknown;
      await between(
        async (query) => {
          facts = [
            await query.supportedModels(),
            await query.supportedCommands(),
            await query.supportedAgents(),
            await query.accountInfo(),
            await query.initializationResult(),
          ];
        },
        { agents: { rev: { description: 'reviews', prompt: 'You review' } } },
      );
      expect(facts).toMatchObject([
        expect.arrayContaining([
          expect.objectContaining({ value: 'sonnet', displayName: expect.any(String) }),
        ]),
        expect.any(Array),
        expect.arrayContaining([expect.objectContaining({ name: 'rev', description: 'reviews' })]),
        { apiKeySource: 'ANTHROPIC_API_KEY', apiProvider: 'firstParty' },
        { output_style: 'default', available_output_styles: expect.arrayContaining(['default']) },
      ]);
    });

    it('can be asked again', async () => {
      let again: unknown;
      await between(async (query) => {
        again = await query.reinitialize();
      });
      expect(again).toMatchObject({ models: expect.any(Array), commands: expect.any(Array) });
    });
  });

  describe('setModel', () => {
    it('changes the model of the next turn; none brings back the first', async () => {
      const switches: HookInput[] = [];
      const watch = [
        {
          hooks: [
            async (input: HookInput) => {
              switches.push(input);
              return {};
            },
          ],
        },
      ];
      const played = await between(
        async (query) => {
          await query.setModel('haiku');
          await query.setModel();
          await query.setModel('sonnet');
        },
        { model: 'opus', hooks: { PreModelSwitch: watch, PostModelSwitch: watch } },
      );
      const models = asked(played.world).map(({ body }) => String(modelOf(body)));
      expect(models).toEqual([expect.stringMatching(/opus/), expect.stringMatching(/sonnet/)]);
      expect(inits(played).map((frame) => frame.model)).toEqual(models);
      expect(switches.filter((input) => input.hook_event_name === 'PreModelSwitch')).toMatchObject([
        { requested_model: 'haiku', source: 'sdk', from_model: expect.stringMatching(/opus/) },
        { requested_model: null, to_model: expect.stringMatching(/opus/) },
        { requested_model: 'sonnet', to_model: expect.stringMatching(/sonnet/) },
      ]);
      expect(switches.filter((input) => input.hook_event_name === 'PostModelSwitch')).toHaveLength(
        3,
      );
    });

    it('is refused when a hook says so', async () => {
      let refusal: unknown;
      const played = await between(
        async (query) => {
          refusal = await query.setModel('haiku').catch((thrown: unknown) => thrown);
        },
        {
          model: 'opus',
          hooks: {
            PreModelSwitch: [
              {
                hooks: [
                  async () => ({
                    hookSpecificOutput: {
                      hookEventName: 'PreModelSwitch',
                      permissionDecision: 'deny',
                      permissionDecisionReason: 'STAY',
                    },
                  }),
                ],
              },
            ],
          },
        },
      );
      expect(String(refusal)).toContain('STAY');
      expect(modelOf(asked(played.world)[1]?.body)).toMatch(/opus/);
    });
  });

  describe('setPermissionMode', () => {
    it('takes a mode, and tells it', async () => {
      const played = await between((query) => query.setPermissionMode('acceptEdits'), {}, [
        'first',
        { tool: 'Write', input: { file_path: 'a.txt', content: 'x' } },
        'second',
      ]);
      expect(ofKind(played, 'system/status')).toMatchObject([
        { status: null, permissionMode: 'acceptEdits' },
      ]);
      expect(inits(played).map((frame) => frame.permissionMode)).toEqual([
        'default',
        'acceptEdits',
      ]);
      expect(toolResult(played).isError).toBe(false);
    });

    it('does not take what is no mode, nor bypass that was not armed', async () => {
      const refusals: string[] = [];
      const played = await between(async (query) => {
        for (const mode of ['nonsense' as 'default', 'bypassPermissions' as const]) {
          await query.setPermissionMode(mode).catch((thrown: unknown) => {
            refusals.push(String(thrown));
          });
        }
      });
      expect(refusals).toHaveLength(2);
      expect(inits(played).map((frame) => frame.permissionMode)).toEqual(['default', 'default']);
    });

    it('takes bypass where it was armed', async () => {
      const played = await between(
        (query) => query.setPermissionMode('bypassPermissions'),
        { allowDangerouslySkipPermissions: true, env: { IS_SANDBOX: '1' } },
        ['first', { tool: 'Bash', input: { command: 'python3 -c "print(7)"' } }, 'second'],
      );
      expect(toolResult(played)).toMatchObject({ isError: false, text: '7' });
    });
  });

  describe('settings', () => {
    it('of the flag tier hold from then on', async () => {
      const played = await between(
        (query) => query.applyFlagSettings({ permissions: { deny: ['Bash(ls)'] } }),
        {},
        ['first', { tool: 'Bash', input: { command: 'ls' } }, 'second'],
      );
      expect(toolResult(played).isError).toBe(true);
      expect(resultOf(played).permission_denials).toHaveLength(1);
    });

    it('that are invalid are refused, and nothing of them holds', async () => {
      let refusal: unknown;
      const played = await between(
        async (query) => {
          const settings = { permissions: { allow: 'everything' }, model: 'haiku' } as object;
          refusal = await query.applyFlagSettings(settings).catch((thrown: unknown) => thrown);
        },
        { model: 'opus' },
      );
      expect(refusal).toBeInstanceOf(Error);
      expect(modelOf(asked(played.world)[1]?.body)).toMatch(/opus/);
    });
  });

  servers(client, between);

  describe('other questions', () => {
    it('are answered, or refused in words', async () => {
      let usage: unknown;
      await between(async (query) => {
        usage = await query.getContextUsage();
        await query.setMaxThinkingTokens(2000);
        await query.stopTask('nope').catch(() => undefined);
      });
      expect(usage).toMatchObject({
        categories: expect.arrayContaining([
          expect.objectContaining({ name: expect.any(String), tokens: expect.any(Number) }),
        ]),
        totalTokens: expect.any(Number),
        maxTokens: expect.any(Number),
        percentage: expect.any(Number),
        model: expect.any(String),
        memoryFiles: [],
        mcpTools: [],
        isAutoCompactEnabled: expect.any(Boolean),
      });
    });
  });
}

type Between = (
  questions: (query: ClientQuery) => Promise<void>,
  options?: ClientOptions,
) => Promise<{ frames: readonly Frame[]; error: Error | undefined }>;

function servers(client: Client, between: Between): void {
  const kit = () =>
    client.createSdkMcpServer({
      name: 'kit',
      tools: [
        client.tool('peek', 'looks', {}, async () => ({
          content: [{ type: 'text', text: 'seen' }],
        })),
      ],
    });
  describe('servers', () => {
    it('are told with their tools', async () => {
      let status: unknown;
      await between(
        async (query) => {
          status = await query.mcpServerStatus();
        },
        { mcpServers: { kit: kit() } },
      );
      expect(status).toMatchObject([
        {
          name: 'kit',
          status: 'connected',
          serverInfo: { name: 'kit' },
          source: 'sdk',
          tools: [{ name: 'peek', description: 'looks' }],
        },
      ]);
    });

    it('are added and taken away', async () => {
      const answers: unknown[] = [];
      const played = await between(async (query) => {
        answers.push(await query.setMcpServers({ kit: kit(), bad: { command: '/nonexistent/x' } }));
        await connected(query, 'kit');
        answers.push(await query.setMcpServers({ kit: kit() }));
      });
      expect(answers).toMatchObject([
        {
          added: expect.arrayContaining(['kit', 'bad']),
          removed: [],
          errors: { bad: expect.any(String) },
        },
        { removed: ['bad'], errors: {} },
      ]);
      const last = ofKind(played, 'system/init').at(-1);
      expect(last).toMatchObject({
        mcp_servers: [{ name: 'kit', status: 'connected' }],
        tools: expect.arrayContaining(['mcp__kit__peek']),
      });
      expect(theOne({ frames: played.frames.slice(0, 1) }, 'system/init')).toMatchObject({
        mcp_servers: [],
      });
    });

    it('are switched off and on, and connected again', async () => {
      const seen: unknown[] = [];
      const state = async (query: ClientQuery) =>
        seen.push((await query.mcpServerStatus()).map(({ status }) => status)[0]);
      const refusals: string[] = [];
      const refused = (thrown: unknown): void => {
        refusals.push(String(thrown));
      };
      await between(
        async (query) => {
          await query.toggleMcpServer('kit', false);
          await state(query);
          await query.toggleMcpServer('kit', true);
          await connected(query, 'kit');
          await state(query);
          await query.reconnectMcpServer('kit');
          await connected(query, 'kit');
          await query.toggleMcpServer('nope', false).catch(refused);
          await query.reconnectMcpServer('nope').catch(refused);
        },
        { mcpServers: { kit: kit() } },
      );
      expect(seen).toEqual(['disabled', 'connected']);
      expect(refusals).toEqual([
        expect.stringContaining('Server not found: nope'),
        expect.stringContaining('Server not found: nope'),
      ]);
    });
  });
}

/** Waits until a server says that it is connected. */
async function connected(query: ClientQuery, name: string): Promise<void> {
  for (let tries = 0; tries < 100; tries++) {
    const status = (await query.mcpServerStatus()).find((server) => server.name === name)?.status;
    if (status === 'connected') return;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  throw new Error(`${name} is not connected`);
}
