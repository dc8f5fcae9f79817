import { describe, expect, it } from 'vitest';
import { err, ok } from '../../lib/result.js';
import type { McpConnection } from '../server.js';
import { hookCall } from './hook-call.js';

function rig(more: { banned?: string; changed?: string } = {}) {
  const calls: string[] = [];
  const connection = {
    declaration: { name: 's', key: 's' },
    call: async ({ tool }: { tool: string }) => {
      calls.push(tool);
      return ok({ content: [{ type: 'text', text: 'fine' }] });
    },
  } as unknown as McpConnection;
  const call = hookCall({
    find: (name) => (name === 's' ? connection : undefined),
    isBanned: (names) => names.includes(more.banned ?? ''),
    vouch: async (_connection, tool) =>
      tool === more.changed ? err('it has changed') : ok(undefined),
  });
  return { calls, ask: (tool: string) => call('s', tool, {}, new AbortController().signal) };
}

describe('a tool that a hook calls', () => {
  const long = 'a'.repeat(70);

  it('answers', async () => {
    const { ask, calls } = rig();
    expect(await ask('t')).toMatchObject({ ok: true, value: { text: 'fine' } });
    expect(calls).toEqual(['t']);
  });

  it.each([
    ['t', { banned: 'mcp__s__t' }],
    [long, { banned: `mcp__s__${long}` }],
    ['t', { changed: 't' }],
  ])('is not called: %s with %j', async (tool, more) => {
    const { ask, calls } = rig(more);
    expect((await ask(tool)).ok).toBe(false);
    expect(calls).toEqual([]);
  });
});
