import { describe, expect, it } from 'vitest';
import type { McpServerStatusRow, SessionServers } from '../protocol/mcp-status.js';
import { mcpCommand } from './repl-mcp.js';

const rows: readonly McpServerStatusRow[] = [
  {
    name: 'files',
    status: 'connected',
    transport: 'stdio',
    scope: 'user',
    source: 'user',
    serverInfo: { name: 'fs', version: '2' },
    tools: [{ name: 'read' }],
  },
  {
    name: 'do\u001b[2Jcs',
    status: 'failed',
    transport: 'http',
    scope: 'local',
    source: 'local',
    error: 'no answer',
    problems: ['3 of its requests\u001b[2J were not handled'],
  },
];

function rig(servers = rows) {
  const done: string[] = [];
  const mcp: SessionServers = {
    answered: async () => undefined,
    status: () => servers,
    set: () => Promise.reject(new Error('not here')),
    reconnect: async (name) => void done.push(`reconnect ${name}`),
    toggle: async (name, enabled) => void done.push(`${enabled ? 'on' : 'off'} ${name}`),
  };
  return { done, say: (...words: string[]) => mcpCommand({ mcp }, words) };
}

describe('/mcp', () => {
  it('lists servers with what is wrong, and nothing that moves the cursor', async () => {
    const text = await rig().say();
    expect(text).toContain('files: connected (stdio, user, fs 2, 1 tools)');
    expect(text).toContain('no answer\n  3 of its requests');
    expect(text).not.toContain('\u001b');
    expect(await rig([]).say()).toContain('no MCP servers');
  });

  it('turns them off and on, and connects them anew', async () => {
    const { done, say } = rig();
    expect(await say('disable', 'files')).toMatch(/^files:/);
    await say('enable', 'files');
    await say('reconnect', 'files');
    expect(done).toEqual(['off files', 'on files', 'reconnect files']);
  });

  it('does nothing with words that it does not know', async () => {
    const { done, say } = rig();
    expect(await say('disable')).toContain('usage');
    expect(await say('remove', 'files')).toContain('usage');
    expect(done).toEqual([]);
  });
});
