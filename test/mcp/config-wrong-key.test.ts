import { describe, expect, it } from 'vitest';
import { configWorld, json, problemsOf, servers } from './config-rig.js';

const entry = { command: 'echo', args: ['hi'] };

describe('a .mcp.json without `mcpServers`', () => {
  it.each([
    [{ servers: { a: entry } }, 'Rename `servers` to `mcpServers`.'],
    [{ McpServers: { a: entry } }, 'Rename `McpServers` to `mcpServers`.'],
    [{ inputs: [], mcp_servers: { a: entry } }, 'Rename `mcp_servers` to `mcpServers`.'],
    [{ a: entry }, 'Write { "mcpServers": { "name": { … } } }.'],
  ])('is told, with the file and the right key: %j', async (value, remedy) => {
    for (const text of [json(value), JSON.stringify(value, null, 4)]) {
      const world = configWorld({ files: { '.mcp.json': text } });
      const done = await world.load({ interactive: true });
      expect(done.servers).toEqual([]);
      expect(done.problems).toMatchObject([
        { severity: 'warning', file: expect.stringMatching(/\.mcp\.json$/), remedy },
      ]);
      expect(problemsOf(done)).toContain(
        'it has no key `mcpServers`. None of its servers is used.',
      );
    }
  });

  it.each(['', '{}', json({ $schema: 'x' }), servers({}), json({ mcpServers: null, other: 1 })])(
    'is nothing to tell where nothing was meant: %s',
    async (text) => {
      const world = configWorld({ files: { '.mcp.json': text } });
      expect((await world.load()).problems).toEqual([]);
    },
  );
});
