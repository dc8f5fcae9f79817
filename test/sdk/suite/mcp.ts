import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import type { Client, ClientOptions } from './client.js';
import { offered, ofKind, resultOf, shown, theOne, toolResult, toolResults } from './look.js';
import { gate, Prompts, play } from './play.js';

const SERVER = path.resolve(import.meta.dirname, '../../mcp/tools-e2e.fixture.mjs');

const text = (words: string) => ({ content: [{ type: 'text' as const, text: words }] });
const use = (name: string, input: Record<string, unknown> = {}) => ({
  tool: `mcp__calc__${name}`,
  input,
  id: 'toolu_1',
});

/** Row 8 of the checklist: servers in the host's process. */
export function mcp(client: Client): void {
  const calc = (seen: unknown[] = []) =>
    client.createSdkMcpServer({
      name: 'calc',
      version: '1.2.3',
      instructions: 'USE ADD FOR SUMS',
      tools: [
        client.tool('add', 'adds two numbers', { a: z.number(), b: z.number() }, async (args) => {
          seen.push(args);
          return text(String(args.a + args.b));
        }),
        client.tool('fail', 'always fails', {}, async () => {
          throw new Error('BROKEN HANDLER');
        }),
        client.tool('refuse', 'answers with an error', {}, async () => ({
          ...text('REFUSED'),
          isError: true,
        })),
      ],
    });
  const withCalc = (script: Parameters<typeof play>[1] = {}, seen: unknown[] = []) =>
    play(client, {
      ...script,
      options: {
        mcpServers: { calc: calc(seen) },
        allowedTools: ['mcp__calc'],
        ...(typeof script.options === 'object' ? script.options : {}),
      },
    });

  describe('a server in the host', () => {
    it('is listed, offered and called', async () => {
      const seen: unknown[] = [];
      const played = await withCalc({ script: [use('add', { a: 1, b: 2 }), 'end'] }, seen);
      expect(theOne(played, 'system/init')).toMatchObject({
        mcp_servers: [{ name: 'calc', status: 'connected', source: 'sdk' }],
        tools: expect.arrayContaining(['mcp__calc__add', 'mcp__calc__fail', 'mcp__calc__refuse']),
      });
      expect(offered(played.world)).toContain('mcp__calc__add');
      expect(seen).toEqual([{ a: 1, b: 2 }]);
      expect(toolResult(played)).toMatchObject({ text: '3', isError: false });
      expect(shown(played.world, 0)).toContain('USE ADD FOR SUMS');
    });

    it('whose handler throws gives an error result', async () => {
      const played = await withCalc({ script: [use('fail'), 'end'] });
      expect(toolResult(played)).toMatchObject({
        isError: true,
        text: expect.stringContaining('BROKEN HANDLER'),
      });
      expect(resultOf(played)).toMatchObject({ subtype: 'success', permission_denials: [] });
    });

    it('that answers with an error gives an error result', async () => {
      const played = await withCalc({ script: [use('refuse'), 'end'] });
      expect(toolResult(played)).toMatchObject({
        isError: true,
        text: expect.stringContaining('REFUSED'),
      });
    });

    it('is not called for a tool that it does not have', async () => {
      const played = await withCalc({ script: [use('nothing'), 'end'] });
      expect(toolResult(played)).toMatchObject({
        isError: true,
        text: expect.stringMatching(/no such tool/i),
      });
    });

    it('is not called with an input that does not fit', async () => {
      const seen: unknown[] = [];
      const played = await withCalc({ script: [use('add', { a: 'one' }), 'end'] }, seen);
      expect(toolResult(played).isError).toBe(true);
      expect(seen).toEqual([]);
    });

    it('asks for each call by default, and a read-only hint does not change that', async () => {
      const asks: unknown[] = [];
      const seen: unknown[] = [];
      const played = await withCalc(
        {
          script: [use('add', { a: 1, b: 2 }), 'end'],
          options: {
            mcpServers: { calc: calc(seen) },
            allowedTools: [],
            canUseTool: async (tool, input, { mcpServer, suggestions }) => {
              asks.push({ tool, input, mcpServer, suggestions });
              return { behavior: 'deny', message: 'NO' };
            },
          },
        },
        seen,
      );
      expect(asks).toMatchObject([
        {
          tool: 'mcp__calc__add',
          input: { a: 1, b: 2 },
          mcpServer: { name: 'calc', source: 'sdk' },
          suggestions: [
            { type: 'addRules', behavior: 'allow', rules: [{ toolName: 'mcp__calc__add' }] },
          ],
        },
      ]);
      expect(seen).toEqual([]);
      expect(toolResult(played)).toMatchObject({ isError: true, text: 'NO' });
    });

    it('hands its blocks on as they are, to the host and to hooks', async () => {
      const responses: unknown[] = [];
      const played = await withCalc({
        script: [use('add', { a: 1, b: 2 }), 'end'],
        options: {
          hooks: {
            PostToolUse: [
              {
                hooks: [
                  async (input) => {
                    if ('tool_response' in input) responses.push(input.tool_response);
                    return {};
                  },
                ],
              },
            ],
          },
        },
      });
      expect(responses).toEqual([[{ type: 'text', text: '3' }]]);
      expect(toolResult(played).structured).toEqual([{ type: 'text', text: '3' }]);
    });

    it('can be given another output by a hook', async () => {
      const played = await withCalc({
        script: [use('add', { a: 1, b: 2 }), 'end'],
        options: {
          hooks: {
            PostToolUse: [
              {
                matcher: 'mcp__calc__.*',
                hooks: [
                  async () => ({
                    hookSpecificOutput: {
                      hookEventName: 'PostToolUse',
                      updatedMCPToolOutput: [{ type: 'text', text: 'REPL' }],
                    },
                  }),
                ],
              },
            ],
          },
        },
      });
      expect(toolResult(played)).toMatchObject({
        text: 'REPL',
        structured: [{ type: 'text', text: 'REPL' }],
      });
    });

    it('is told when its call is given up', async () => {
      const prompts = new Prompts();
      prompts.send('go');
      const begun = gate();
      const slow = client.createSdkMcpServer({
        name: 'calc',
        tools: [
          client.tool('wait', 'waits', {}, async () => {
            begun.reach();
            return await new Promise(() => undefined);
          }),
        ],
      });
      const played = await play(client, {
        prompt: prompts,
        script: [use('wait')],
        options: { mcpServers: { calc: slow }, allowedTools: ['mcp__calc'] },
        onFrame: (frame, query) => {
          if (frame.type === 'assistant') void begun.reached.then(() => query.interrupt());
          if (frame.type === 'result') prompts.end();
        },
      });
      expect(toolResult(played)).toMatchObject({ id: 'toolu_1', isError: true });
      expect(resultOf(played)).toMatchObject({ terminal_reason: 'aborted_tools' });
    });

    it('serves several calls at once', async () => {
      let open = 0;
      let most = 0;
      const both = gate();
      const server = client.createSdkMcpServer({
        name: 'calc',
        tools: [
          client.tool(
            'look',
            'looks',
            { n: z.number() },
            async ({ n }) => {
              most = Math.max(most, ++open);
              if (open === 2) both.reach();
              await Promise.race([both.reached, new Promise((r) => setTimeout(r, 3_000))]);
              open--;
              return text(`seen ${n}`);
            },
            { annotations: { readOnlyHint: true } },
          ),
        ],
      });
      const played = await play(client, {
        script: [
          {
            blocks: [
              { tool: 'mcp__calc__look', input: { n: 1 }, id: 'toolu_1' },
              { tool: 'mcp__calc__look', input: { n: 2 }, id: 'toolu_2' },
            ],
          },
          'end',
        ],
        options: { mcpServers: { calc: server }, allowedTools: ['mcp__calc'] },
      });
      expect(most).toBe(2);
      expect(
        toolResults(played)
          .map((result) => result.text)
          .sort(),
      ).toEqual(['seen 1', 'seen 2']);
    });
  });

  describe.each(['argv', 'initialize'] as const)('servers sent by %s', (mcpServersDelivery) => {
    delivery(client, mcpServersDelivery);
  });

  describe('servers beside it', () => {
    it('one that cannot start is told as failed, and the session runs', async () => {
      const played = await play(client, {
        script: ['end'],
        options: { mcpServers: { gone: { command: '/nonexistent/server' } } },
      });
      expect(theOne(played, 'system/init')).toMatchObject({
        mcp_servers: [{ name: 'gone', status: expect.stringMatching(/^(failed|pending)$/) }],
      });
      expect(resultOf(played)).toMatchObject({ result: 'end' });
    });

    it('those of the project are not started with strictMcpConfig', async () => {
      const played = await play(client, {
        files: { '.mcp.json': '{"mcpServers":{"theirs":{"command":"/nonexistent/server"}}}' },
        script: ['end'],
        options: { strictMcpConfig: true, settings: { enableAllProjectMcpServers: true } },
      });
      expect(theOne(played, 'system/init')).toMatchObject({ mcp_servers: [] });
      expect(ofKind(played, 'result')).toHaveLength(1);
    });
  });
}

/** Both ways in which a client can send the servers that it does not run itself. */
function delivery(client: Client, way: 'argv' | 'initialize'): void {
  const kit = (played: NonNullable<Parameters<typeof play>[1]> = {}) =>
    play(client, {
      files: { 'kit.json': '{"tools":[{"name":"env","do":{"env":true}}]}' },
      ...played,
      options: (world) => ({
        mcpServersDelivery: way,
        mcpServers: {
          kit: {
            command: process.execPath,
            args: [SERVER, world.project.at('kit.json')],
            env: { KIT_TOKEN: 'hunter2' },
          },
          gone: { command: '/nonexistent/server' },
        },
        allowedTools: ['mcp__kit'],
      }),
    });

  it('are offered and called, and one that cannot start stops nothing', async () => {
    const played = await kit({ script: [{ tool: 'mcp__kit__env', input: {} }, 'end'] });
    expect(toolResult(played)).toMatchObject({
      isError: false,
      text: expect.stringContaining('hunter2'),
    });
    expect(resultOf(played)).toMatchObject({ result: 'end', is_error: false });
  });

  it('stand beside one in the host', async () => {
    const mine = client.createSdkMcpServer({
      name: 'mine',
      tools: [client.tool('hello', 'greets', {}, async () => text('HELLO'))],
    });
    const played = await play(client, {
      files: { 'kit.json': '{"tools":[{"name":"env","do":{"env":true}}]}' },
      script: ['end'],
      options: (world) => ({
        mcpServersDelivery: way,
        mcpServers: {
          mine,
          kit: { command: process.execPath, args: [SERVER, world.project.at('kit.json')] },
        },
      }),
    });
    expect(offered(played.world)).toContain('mcp__mine__hello');
    const servers = theOne(played, 'system/init').mcp_servers as readonly { name: string }[];
    expect(servers.map(({ name }) => name).sort()).toEqual(['kit', 'mine']);
  });

  it('are told as applied where the session was opened with them', async () => {
    const prompts = new Prompts();
    prompts.send('go');
    const applied: unknown[] = [];
    await kit({
      prompt: prompts,
      script: ['end'],
      onFrame: async (frame, query) => {
        if (frame.type !== 'result') return;
        applied.push((await query.initializationResult()).mcp_servers_applied);
        applied.push((await query.reinitialize()).mcp_servers_applied);
        prompts.end();
      },
    });
    const expected = way === 'initialize' ? true : undefined;
    expect(applied).toEqual([expected, expected]);
  });

  questions(client, way);
}

/** A server that asks its person something in the middle of a call. */
function questions(client: Client, mcpServersDelivery: 'argv' | 'initialize'): void {
  const answerOf = async (onElicitation: ClientOptions['onElicitation']) => {
    const played = await play(client, {
      files: { 'kit.json': '{"tools":[{"name":"ask","do":{"ask":true}}]}' },
      script: [{ tool: 'mcp__kit__ask', input: {} }, 'end'],
      options: (world) => ({
        mcpServersDelivery,
        mcpServers: {
          kit: { command: process.execPath, args: [SERVER, world.project.at('kit.json')] },
        },
        allowedTools: ['mcp__kit'],
        ...(onElicitation === undefined ? {} : { onElicitation }),
      }),
    });
    return toolResult(played).text;
  };

  describe('a question of a server', () => {
    it('is put to the host, with its form', async () => {
      const seen: unknown[] = [];
      const answer = await answerOf(async (request) => {
        seen.push(request);
        return { action: 'accept', content: { name: 'Ada' } };
      });
      expect(seen).toMatchObject([
        {
          serverName: 'kit',
          message: 'your name?',
          requestedSchema: { type: 'object', properties: { name: { type: 'string' } } },
        },
      ]);
      expect(answer).toContain('{"action":"accept","content":{"name":"Ada"}}');
    });

    it.each([
      ['that the host declines', async () => ({ action: 'decline' as const })],
      ['that nobody answers', undefined],
      [
        'at which the host fails',
        async () => {
          throw new Error('BROKEN');
        },
      ],
    ])('%s gives nothing away', async (_name, onElicitation) => {
      expect(await answerOf(onElicitation)).toMatch(/"action":"(decline|cancel)"/);
    });
  });
}
