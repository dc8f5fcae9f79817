import { describe, expect, it } from 'vitest';
import type { RawTool } from '../server.js';
import { definitionTokens, listingOf, MOST_TOOLS } from './listing.js';
import { toolNames } from './names.js';

const raw = (name: string, more: Partial<RawTool> = {}): RawTool => ({
  name,
  inputSchema: { type: 'object' },
  ...more,
});

const list = (tools: readonly RawTool[], name = 'srv') =>
  listingOf({ declaration: { name, key: name }, tools });

describe('what a server offers', () => {
  it('is sorted, and leaves out what collides, by name', () => {
    const { tools, problems } = list([raw('b b'), raw('a'), raw('b_b'), raw('b.b'), raw('Read')]);
    expect(tools.map(({ name }) => name)).toEqual(['Read', 'a', 'b b']);
    expect(problems).toHaveLength(2);
    expect(problems[0]).toContain('"b.b"');
    expect(problems[1]).toContain('"b_b"');
  });

  it('leaves out one bad tool and keeps the rest', () => {
    const { tools, problems } = list([
      raw('good'),
      raw('bad', { inputSchema: { type: 'string' } }),
      raw('ｂad2'),
      raw('huge', { description: 'x'.repeat(300_000) }),
    ]);
    expect(tools.map(({ name }) => name)).toEqual(['good']);
    expect(problems).toHaveLength(3);
  });

  it('has in every request what the server marks so while that is little, or its entry says so', () => {
    const marked = (count: number): readonly RawTool[] =>
      Array.from({ length: count }, (_, at) =>
        raw(`t${at}`, {
          description: 'x'.repeat(1_000),
          _meta: { 'anthropic/alwaysLoad': true },
        }),
      );
    const few = list([...marked(5), raw('other')]);
    expect(few.tools.filter(({ alwaysLoad }) => alwaysLoad)).toHaveLength(5);
    expect(few.problems).toEqual([]);
    const many = list(marked(50));
    expect(many.tools.filter(({ alwaysLoad }) => alwaysLoad)).toEqual([]);
    expect(many.problems).toEqual([expect.stringContaining('50 tools')]);
    const entries = [
      { type: 'sdk' as const, name: 'srv' },
      { type: 'stdio' as const, command: 'x', args: [], env: {}, alwaysLoad: true },
    ];
    for (const entry of entries) {
      const declaration = { name: 'srv', key: 'srv', entry };
      const made = listingOf({ declaration, tools: marked(50) });
      expect(made.tools.every(({ alwaysLoad }) => alwaysLoad)).toBe(true);
      expect(made.problems).toEqual([]);
    }
  });

  it('gives no name to two tools, nor the short form of a long name to another one', () => {
    const long = 'a'.repeat(80);
    const taken = toolNames('srv', long).name.slice('mcp__srv__'.length);
    const { tools, problems } = list([raw(long), raw(taken)]);
    expect(tools).toHaveLength(1);
    expect(problems).toEqual([expect.stringContaining('has the same name')]);
  });

  it('tells of a few problems, however many there are', () => {
    const bad = Array.from({ length: 9_000 }, (_, at) => raw(`bad\u200b${at}`));
    const { problems } = list([raw('good'), ...bad]);
    expect(problems.length).toBeLessThan(30);
    expect(problems.at(-1)).toContain('8980 more tools');
  });

  it('ends at a number that nobody needs', () => {
    const many = Array.from({ length: MOST_TOOLS + 5 }, (_, at) => raw(`t${at}`));
    const { tools, problems } = list(many);
    expect(tools).toHaveLength(MOST_TOOLS);
    expect(problems).toEqual([expect.stringContaining('only the first 1000 of 1005')]);
  });

  it('knows what is always loaded, and what definitions cost', () => {
    const { tools } = list([raw('a', { _meta: { 'anthropic/alwaysLoad': true } }), raw('b')]);
    expect(tools.map(({ alwaysLoad }) => alwaysLoad)).toEqual([true, false]);
    expect(definitionTokens([{ tools }])).toBeGreaterThan(10);
  });
});
