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

  describe('that is called a__b', () => {
    const refusing = (matcher: string) => ({
      hooks: { PreToolUse: [{ matcher, hooks: [{ type: 'command', command: 'exit 2' }] }] },
    });
    const config = () => ({
      mcpConfig: [{ a__b: offering({ get: plain }).srv }],
      permissionMode: 'bypassPermissions' as const,
      bypassArmed: true,
    });
    const calls = [call('mcp__a__b__get')];
    it.each([
      ['deny', { permissions: { deny: ['mcp__a__b'] } }],
      ['ask', { permissions: { ask: ['mcp__a__b'] } }],
      ['hook', refusing('mcp__a__b')],
      ['hook in another case', refusing('MCP__A__B')],
    ])('is held as a whole by its name: %s', async (_what, settings) => {
      const { results } = await attempt({ settings, config: config(), calls });
      expect(results.map(({ ran }) => ran)).toEqual([false]);
    });

    it.each([
      ['another server', { permissions: { deny: ['mcp__a__c'] } }],
      ['another tool', { permissions: { deny: ['mcp__a__b__put'] } }],
      ['a hook for another tool', refusing('mcp__a__b__put')],
    ])('is not held by a rule for %s', async (_what, settings) => {
      const { results } = await attempt({ settings, config: config(), calls });
      expect(results.map(({ ran }) => ran)).toEqual([true]);
    });

    it('is taken from an agent by its name', async () => {
      const limited = '---\nname: l\ndescription: d\ndisallowedTools: mcp__a__b\n---\nI am LLL\n';
      const project = makeTempProject({ files: { 'script.json': '' } });
      onTestFinished(() => project.remove());
      const start = { tool: 'Agent', input: { description: 'd', prompt: 'p', subagent_type: 'l' } };
      const actors = [
        { name: 'l', match: { system: 'I am LLL' }, replies: [...calls, 'end'] },
        { name: 'main', replies: [start, 'done'] },
      ];
      project.write('script.json', JSON.stringify({ actors }));
      const { news } = await attempt({
        files: { '.claude/agents/l.md': limited },
        config: { ...config(), trust: true, script: project.at('script.json') },
      });
      expect(JSON.stringify(news)).toContain('No such tool available: mcp__a__b__get');
    });
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
