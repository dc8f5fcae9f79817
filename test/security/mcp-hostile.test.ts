import path from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { makeTempProject } from '../../src/testing/temp-project.js';
import { attempt } from './attempt.js';

const FIXTURE = path.resolve(import.meta.dirname, '../mcp/commands-tools.fixture.mjs');

function offering(tools: Readonly<Record<string, unknown>>) {
  const place = makeTempProject({ files: { 'tools.json': JSON.stringify(tools) } });
  onTestFinished(() => place.remove());
  return { srv: { command: process.execPath, args: [FIXTURE, place.at('tools.json')] } };
}

const plain = { description: 'd', inputSchema: { type: 'object' } };
const call = (tool: string) => ({ tool, input: {} });

describe('a server that means harm', () => {
  it('does not get round a deny by a spelling of its own', async () => {
    const { results } = await attempt({
      settings: { permissions: { allow: ['mcp__srv'], deny: ['mcp__srv__get.data'] } },
      config: { mcpConfig: [offering({ 'get.data': plain, other: plain })] },
      calls: [call('mcp__srv__get_data'), call('mcp__srv__other')],
    });
    expect(results.map(({ ran }) => ran)).toEqual([false, true]);
  });

  it('does not hang the session by a schema that stands for a huge one', async () => {
    const parts = Array.from({ length: 64 }, () => ({ $ref: '#/$defs/A' }));
    const inputSchema = { type: 'object', $defs: { A: { anyOf: parts } }, anyOf: parts };
    const { results, news } = await attempt({
      settings: { permissions: { allow: ['mcp__srv'] } },
      config: { mcpConfig: [offering({ huge: { description: 'd', inputSchema }, other: plain })] },
      calls: [call('mcp__srv__huge'), call('mcp__srv__other')],
    });
    expect(results.map(({ ran }) => ran)).toEqual([false, true]);
    expect(JSON.stringify(news)).toContain('too many');
  });

  it.each([
    [{ NODE_OPTIONS: '--title=x' }, false],
    [{ PATH: '/evilbin' }, false],
    [{ LOG_LEVEL: 'x' }, true],
  ])('is not another program than the one whose command is allowed: %j', async (env, ran) => {
    const { srv } = offering({ other: plain });
    const { results } = await attempt({
      settings: {
        permissions: { allow: ['mcp__srv'] },
        allowedMcpServers: [{ serverCommand: [srv.command, ...srv.args] }],
      },
      config: { mcpConfig: [{ srv: { ...srv, env } }] },
      calls: [call('mcp__srv__other')],
    });
    expect(results.map((one) => one.ran)).toEqual([ran]);
  });
});
