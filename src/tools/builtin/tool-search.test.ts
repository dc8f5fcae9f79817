import { describe, expect, it } from 'vitest';
import { MAIN_AGENT } from '../../protocol/agent-ref.js';
import { createPool } from '../pool.js';
import type { AnyTool, ToolContext } from '../tool.js';
import { type ToolSearchDeps, toolSearchTool } from './tool-search.js';

function served(server: string, tool: string, description: string): AnyTool {
  const name = `mcp__${server}__${tool}`;
  return {
    name,
    kind: 'execute',
    origin: { server, key: server, source: 'user', tool, alwaysLoad: false },
    definition: { name, description, input_schema: { type: 'object', properties: {} } },
    validate: async () => [],
    subject: () => ({ paths: [], summary: name }),
    concurrencySafe: () => false,
    run: async () => ({ content: '' }),
  };
}

function setup(more: Partial<ToolSearchDeps> = {}) {
  const pool = createPool(
    [
      served('github', 'create_issue', 'Creates an issue in a repository.'),
      served('github', 'listIssues', 'Lists issues.'),
      served('slack', 'post', 'Posts a message to a channel about an issue.'),
      served('slack', 'channels', 'Lists channels.'),
    ],
    { defer: () => true },
  );
  const tool = toolSearchTool({ poolOf: () => pool, ...more });
  const context = { agent: MAIN_AGENT, signal: new AbortController().signal } as ToolContext;
  const search = async (query: string, max_results?: number) => {
    const input = { query, max_results };
    const output = await tool.run(input, context, undefined as never);
    const { matches } = output.structured as { matches: string[] };
    return { text: String(output.content), isError: output.isError, matches };
  };
  return { pool, tool, search };
}

describe('ToolSearch', () => {
  it('loads by name, in the order of the names, and shows whole definitions', async () => {
    const { pool, search } = setup();
    const found = await search('select:mcp__slack__post, mcp__github__create_issue');
    expect(found.matches).toEqual(['mcp__slack__post', 'mcp__github__create_issue']);
    expect(pool.definitions.map(({ name }) => name)).toEqual(found.matches);
    expect(found.text).toContain('"input_schema"');
    expect(found.text).toContain('Posts a message');
  });

  it('shows again what is loaded, and loads nothing twice', async () => {
    const { pool, search } = setup();
    await search('select:mcp__slack__post');
    const again = await search('select:mcp__slack__post');
    expect(again.matches).toEqual(['mcp__slack__post']);
    expect(again.isError).toBeUndefined();
    expect(pool.definitions).toHaveLength(1);
  });

  it('says which names nobody has', async () => {
    const found = await setup().search('select:mcp__slack__pots');
    expect(found.isError).toBe(true);
    expect(found.text).toContain('Did you mean mcp__slack__post?');
  });

  it('ranks names before descriptions', async () => {
    const { matches } = await setup().search('issue');
    expect(matches[0]).toBe('mcp__github__create_issue');
    expect(matches.at(-1)).toBe('mcp__slack__post');
    expect(matches).toHaveLength(3);
  });

  it('holds to words that must occur, and to the number of results', async () => {
    expect((await setup().search('+slack issue')).matches).toEqual([
      'mcp__slack__post',
      'mcp__slack__channels',
    ]);
    expect((await setup().search('issue', 1)).matches).toEqual(['mcp__github__create_issue']);
  });

  it('finds nothing without failing', async () => {
    const found = await setup().search('zebra');
    expect(found.matches).toEqual([]);
    expect(found.text).toContain('4 are deferred');
    expect(found.isError).toBeUndefined();
  });

  it('waits for servers that are connecting, and tells of those that failed', async () => {
    let isSettled = false;
    const { search } = setup({
      settle: async () => {
        isSettled = true;
      },
      notes: () => ['The server "x" could not be reached.'],
    });
    const { text } = await search('zebra');
    expect(isSettled).toBe(true);
    expect(text).toContain('"x" could not be reached');
  });

  it.each([
    [{}, ''],
    [{ query: ' ' }, '/query'],
    [{ query: 'a', max_results: 0 }, '/max_results'],
    [{ query: 'a', max_results: 1.5 }, '/max_results'],
    [{ query: 'a', other: 1 }, ''],
    ['text', ''],
  ])('refuses %j', async (input, path) => {
    const problems = await setup().tool.validate(input);
    expect(problems.map((one) => one.path)).toEqual([path]);
  });
});
