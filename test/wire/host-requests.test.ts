import { describe, expect, it } from 'vitest';
import { isResult, type WireOptions, wire } from './host.js';

describe('settings of the host that an open session does not go by', () => {
  it.each([
    ['permissions.defaultMode', { permissions: { defaultMode: 'plan' } }],
    ['permissions.defaultMode', { 'permissions.defaultMode': 'plan' }],
    ['portcullis.budget.turns', { portcullis: { budget: { turns: 1 } } }],
  ])('are refused, and %s is named', async (key, settings) => {
    const host = await wire({
      config: { permissionMode: 'acceptEdits' },
      script: [{ tool: 'Write', input: { file_path: 'a', content: '' } }, 'done'],
    });
    const answer = await host.request({
      subtype: 'apply_flag_settings',
      settings: { ...settings, disableAllHooks: true },
    });
    expect(answer).toMatchObject({ subtype: 'error', error: expect.stringContaining(key) });
    host.prompt('go');
    await host.next(isResult);
    expect(host.project.exists('a')).toBe(true);
  });
});

describe('a resource that the host reads', () => {
  let reads = 0;
  const answers = (request: Readonly<Record<string, unknown>>): unknown => {
    const { id, method } = request.message as { id?: number; method: string };
    if (method === 'resources/read') reads++;
    const result =
      method === 'initialize'
        ? {
            protocolVersion: '2025-11-25',
            capabilities: { tools: {}, resources: {} },
            serverInfo: { name: 'srv', version: '1' },
          }
        : method === 'resources/read'
          ? { contents: [{ uri: 'ui://page', text: 'PAGE' }] }
          : { tools: [], resources: [] };
    return { mcp_response: { jsonrpc: '2.0', id, result } };
  };
  const read = async (options: WireOptions) => {
    reads = 0;
    const host = await wire({
      answer: answers,
      asksHost: true,
      ...options,
      config: { trust: true, ...options.config },
      messages: { decisions: true, ...options.messages },
    });
    await host.request({ subtype: 'initialize', sdkMcpServers: ['srv'] });
    const answer = await host.request({
      subtype: 'mcp_read_resource',
      serverName: 'srv',
      uri: 'ui://page',
    });
    const receipts = host.frames.filter(({ subtype }) => subtype === 'decision');
    return { host, answer, receipts };
  };
  const settings = (content: object): WireOptions => ({
    files: { '.claude/settings.json': JSON.stringify(content) },
  });

  it('is given with a receipt, and nobody is asked', async () => {
    const { answer, receipts, host } = await read({});
    expect(answer).toMatchObject({ response: { contents: [{ text: 'PAGE' }] } });
    expect(JSON.stringify(receipts)).toContain('ReadMcpResourceTool');
    expect(JSON.stringify(host.frames)).not.toContain('can_use_tool');
  });

  it.each([
    ['a deny rule for the tool', { permissions: { deny: ['ReadMcpResourceTool'] } }],
    ['a deny rule for the server', { permissions: { deny: ['ReadMcpResourceTool(server:srv)'] } }],
    ['an ask rule', { permissions: { ask: ['ReadMcpResourceTool'] } }],
    [
      'a hook',
      {
        hooks: {
          PreToolUse: [{ matcher: '*', hooks: [{ type: 'command', command: 'exit 2' }] }],
        },
      },
    ],
  ])('is kept back by %s', async (_, content) => {
    const { answer, receipts } = await read(settings(content));
    expect(answer).toMatchObject({ subtype: 'error' });
    expect(reads).toBe(0);
    expect(receipts).toHaveLength(1);
    expect(JSON.stringify(receipts)).toContain('"deny"');
  });

  it('is kept back where a hook replaces it', async () => {
    const output = { hookSpecificOutput: { hookEventName: 'PostToolUse', updatedToolOutput: 'x' } };
    const command = `echo '${JSON.stringify(output)}'`;
    const { answer } = await read(
      settings({ hooks: { PostToolUse: [{ hooks: [{ type: 'command', command }] }] } }),
    );
    expect(answer).toMatchObject({ subtype: 'error' });
  });
});
