import { expect, it } from 'vitest';
import { wire } from '../wire/host.js';

it('a server that says very often that its prompts are others is not asked as often', async () => {
  const prompts = [{ name: 'first' }];
  let asked = 0;
  const results: Readonly<Record<string, () => object>> = {
    initialize: () => ({
      protocolVersion: '2025-06-18',
      capabilities: { tools: {}, prompts: { listChanged: true } },
      serverInfo: { name: 's', version: '1' },
    }),
    'tools/list': () => ({ tools: [] }),
    'prompts/list': () => {
      asked += 1;
      return { prompts };
    },
  };
  const host = await wire({
    answer(request) {
      const { id, method } = request.message as { id?: number; method: string };
      const result = results[method]?.() ?? {};
      return { mcp_response: { jsonrpc: '2.0', id: id ?? 0, result } };
    },
  });
  await host.request({ subtype: 'initialize', sdkMcpServers: ['s'] });
  const message = { jsonrpc: '2.0', method: 'notifications/prompts/list_changed' };
  const before = asked;
  const sent: Promise<unknown>[] = [];
  for (let i = 0; i < 60; i++) {
    if (i === 59) prompts.push({ name: 'last' });
    sent.push(host.request({ subtype: 'mcp_message', server_name: 's', message }));
  }
  await Promise.all(sent);
  const told = await host.next(({ subtype }) => subtype === 'commands_changed');
  expect(JSON.stringify(told.commands)).toContain('mcp__s__last');
  expect(asked - before).toBeLessThan(20);
});
