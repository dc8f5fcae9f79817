import { describe, expect, it } from 'vitest';
import type { Message } from '../support/wire-host.js';
import { callOf, greeting, type HostServer, listed, playHost, words } from './wire-rig.js';

const calc: HostServer = {
  tools: { add: ({ a, b }) => words(String(Number(a) + Number(b))) },
};
const add = callOf('mcp__calc__add', { a: 1, b: 2 });
const allow = (...rules: string[]) => ['--allowedTools', ...rules];
const initOf = (frames: readonly Message[]) => frames.find(({ subtype }) => subtype === 'init');

describe('servers in the host', () => {
  it('are greeted while the session opens, and called', async () => {
    const { done, log, messages } = await playHost(
      { calc },
      { script: [add, 'end'], args: allow('mcp__calc') },
    );
    expect(done.toolResult(0)).toEqual({ text: '3', isError: false });
    expect(messages).toEqual([
      'initialize',
      'notifications/initialized',
      'tools/list',
      'tools/call',
    ]);
    const init = initOf(done.frames);
    expect(init?.mcp_servers).toEqual([{ name: 'calc', status: 'connected', source: 'sdk' }]);
    expect(init?.tools).toContain('mcp__calc__add');
    const call = log.asked.findLast(({ subtype }) => subtype === 'mcp_message')?.message;
    expect(call).toMatchObject({
      params: {
        name: 'add',
        arguments: { a: 1, b: 2 },
        _meta: { 'claudecode/toolUseId': expect.stringMatching(/.+/) },
      },
    });
  });

  it('that come with --mcp-config are the same', async () => {
    const config = JSON.stringify({ mcpServers: { calc: { type: 'sdk', name: 'calc' } } });
    const { done } = await playHost(
      { calc },
      {
        host: { initialize: { sdkMcpServers: undefined } },
        script: [add, 'end'],
        args: ['--mcp-config', config, ...allow('mcp__calc')],
      },
    );
    expect(done.toolResult(0)).toEqual({ text: '3', isError: false });
  });

  it('are not greeted again where the host has done so', async () => {
    const manifest = { initializeResult: greeting('calc'), toolsListResult: listed(calc) };
    const { done, log, messages } = await playHost(
      { calc },
      {
        host: { initialize: { sdkMcpServerManifests: { calc: manifest } } },
        script: [add, 'end'],
        args: allow('mcp__calc'),
      },
    );
    expect(messages).toEqual(['tools/call']);
    expect(done.toolResult(0).text).toBe('3');
    expect(log.answers.get('host-1')).toMatchObject({
      response: { sdk_mcp_manifests_parked: { calc: 'parked' } },
    });
  });

  it('are greeted where what the host has done cannot be used', async () => {
    const old = { ...greeting('calc'), protocolVersion: '2024-11-05' };
    const { log, messages } = await playHost(
      { calc, other: calc },
      {
        host: {
          initialize: {
            sdkMcpServerManifests: { calc: { initializeResult: old }, other: 7, nobody: {} },
          },
        },
        script: ['end'],
      },
    );
    expect(messages.filter((method) => method === 'initialize')).toHaveLength(2);
    expect(log.answers.get('host-1')).toMatchObject({
      response: {
        sdk_mcp_manifests_parked: {
          calc: 'protocol_version_mismatch',
          other: 'malformed',
          nobody: 'not_honoured',
        },
      },
    });
  });

  it('that fail are a failed call and not a hung one', async () => {
    const broken: HostServer = {
      tools: {
        boom: () => {
          throw new Error('SECRET of the host');
        },
        odd: () => 7,
        none: () => null,
      },
    };
    const { done } = await playHost(
      { broken },
      {
        script: [
          callOf('mcp__broken__boom'),
          callOf('mcp__broken__odd'),
          callOf('mcp__broken__none'),
          'end',
        ],
        args: allow('mcp__broken'),
      },
    );
    expect(done.result).toMatchObject({ subtype: 'success' });
    expect(done.toolResult(0)).toMatchObject({ isError: true });
    expect(done.toolResult(0).text).not.toContain('SECRET');
    expect(done.toolResult(1)).toMatchObject({ isError: true });
    expect(done.toolResult(2)).toMatchObject({ isError: true });
  });

  it('that cannot be greeted hold up nobody', async () => {
    const { done, log } = await playHost(
      { calc },
      {
        host: {
          initialize: { sdkMcpServers: ['calc', 'absent'] },
          onFrame: (frame, host) => {
            if (frame.subtype === 'init') host.control({ subtype: 'mcp_status' });
          },
        },
        script: [add, 'end'],
        args: allow('mcp__calc'),
      },
    );
    expect(done.toolResult(0).text).toBe('3');
    const { mcpServers: rows } = (log.answers.get('host-2')?.response ?? {}) as Message;
    expect(rows).toMatchObject([
      {
        name: 'calc',
        status: 'connected',
        source: 'sdk',
        scope: 'dynamic',
        serverInfo: { name: 'calc', version: '1.2.3' },
        tools: [{ name: 'add' }],
      },
      { name: 'absent', status: 'failed', error: expect.stringMatching(/.+/) },
    ]);
  });

  it('whose host hangs up are a failed call', async () => {
    const silent: HostServer = {
      tools: {
        wait: (_args, host) => {
          host.end();
          return undefined;
        },
      },
    };
    const { done } = await playHost(
      { silent },
      { script: [callOf('mcp__silent__wait'), 'end'], args: allow('mcp__silent') },
    );
    expect(done.toolResult(0)).toMatchObject({ isError: true });
    expect(done.result).toMatchObject({ subtype: 'success' });
  });

  it('are told when a call is given up', async () => {
    const silent: HostServer = {
      tools: {
        wait: (_args, host) => {
          host.control({ subtype: 'interrupt' });
          return undefined;
        },
      },
    };
    const { log, messages } = await playHost(
      { silent },
      { script: [callOf('mcp__silent__wait'), 'end'], args: allow('mcp__silent') },
    );
    expect(messages).toContain('notifications/cancelled');
    const asked = log.frames.find(
      ({ type, request }) =>
        type === 'control_request' &&
        ((request as Message).message as Message | undefined)?.method === 'tools/call',
    );
    expect(log.cancelled).toEqual([asked?.request_id]);
  });

  it('tell of new tools themselves', async () => {
    const tools: Record<string, HostServer['tools'][string]> = {
      learn: async (_args, host) => {
        tools.late = () => words('late answer');
        const id = host.control({
          subtype: 'mcp_message',
          server_name: 'growing',
          message: { jsonrpc: '2.0', method: 'notifications/tools/list_changed' },
        });
        expect(await host.answered(id)).toMatchObject({ subtype: 'success', response: {} });
        return words('learnt');
      },
    };
    const { done, messages } = await playHost(
      { growing: { tools } },
      {
        host: { prompts: ['one', 'two'] },
        script: [callOf('mcp__growing__learn'), 'ok', callOf('mcp__growing__late'), 'end'],
        args: allow('mcp__growing'),
      },
    );
    expect(messages.filter((method) => method === 'tools/list')).toHaveLength(2);
    expect(done.toolResult(1)).toEqual({ text: 'late answer', isError: false });
  });

  it('are asked about by name', async () => {
    const { log } = await playHost(
      { calc },
      {
        host: { canUseTool: () => ({ behavior: 'deny', message: 'no' }) },
        script: [add, 'end'],
        args: ['--permission-prompt-tool', 'stdio'],
      },
    );
    expect(log.asked.find(({ subtype }) => subtype === 'can_use_tool')).toMatchObject({
      tool_name: 'mcp__calc__add',
      mcp_server: { name: 'calc', source: 'sdk' },
    });
  });
});
