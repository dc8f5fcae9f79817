import { describe, expect, it } from 'vitest';
import { resolveRuleName } from '../../permissions/rules/names.js';
import { RULE_TOOLS } from '../../permissions/rules/tools.js';
import { nameProblem, namesCollide, serverKey } from './names.js';

describe('names of servers', () => {
  it.each([
    'git',
    'my server',
    'dot.ted',
    'UPPER-case',
    'unié',
    'under__score',
    'a/b',
    'plugin:p:s',
    '日本',
  ])('%s is fine', (name) => {
    expect(nameProblem(name)).toBeUndefined();
  });

  it.each([
    ['', 'empty'],
    [' a', 'blank'],
    ['a'.repeat(101), 'longer'],
    ['a\u200bb', 'cannot be seen'],
    ['a\u202eb', 'cannot be seen'],
    ['a\nb', 'cannot be seen'],
    ['\u0440ay', 'look like others'],
    ['\uff52ead', 'look like others'],
    ['git\u0301', 'look like others'],
    ['gith\u03c5b', 'look like others'],
    ['fin\u05d0', 'look like others'],
    ['workspace', 'reserved'],
    ['Claude-in-Chrome', 'reserved'],
    ['claude preview', 'reserved'],
    ['Claude_Browser', 'reserved'],
    ['Bash', 'built-in'],
    ['WebFetch', 'built-in'],
    ['mcp__x', 'mcp__'],
  ])('%j is none', (name, reason) => {
    expect(nameProblem(name)).toContain(reason);
  });

  it('keep letters, digits, dash and underscore in tool names', () => {
    expect(serverKey('my sérver/x.y-z_1')).toBe('my_s_rver_x_y-z_1');
    expect(serverKey('😀')).toBe('_');
  });

  it.each([
    ['a', 'a', true],
    ['a', 'a__b', true],
    ['a', 'a_', true],
    ['a_', 'a__b', false],
    ['a', 'a_b', false],
    ['a', 'ab', false],
    ['a', 'A', false],
  ])('%s and %s', (one, other, collide) => {
    expect([namesCollide(one, other), namesCollide(other, one)]).toEqual([collide, collide]);
  });
});

/** Only the exact spelling of a built-in tool is refused: `lsp` and `agent` are valid server names. */
describe('a server that is called like a built-in tool in another case', () => {
  const holds = (kind: 'allow' | 'ask' | 'deny', rule: string, tool: string): boolean => {
    const read = resolveRuleName(rule, { kind, scoped: false, knownTools: [] });
    return 'matchesTool' in read && read.matchesTool([tool]);
  };
  const pairs = Object.keys(RULE_TOOLS).flatMap((tool) =>
    [tool.toLowerCase(), `${tool.slice(0, 1).toLowerCase()}${tool.slice(1)}`, `${tool}s`]
      .filter((name) => !Object.hasOwn(RULE_TOOLS, name))
      .map((name): [string, string] => [name, tool]),
  );

  it('is not the one that has its spelling', () => {
    for (const tool of Object.keys(RULE_TOOLS)) expect(nameProblem(tool)).toContain('built-in');
    for (const [name] of pairs) expect(nameProblem(name)).toBeUndefined();
  });

  it('shares no rule with it: a tool of a server is named with it, and a built-in one never is', () => {
    for (const [name, tool] of pairs) {
      const theirs = [`mcp__${name}__${tool}`, `mcp__${name}__x`];
      for (const kind of ['allow', 'ask', 'deny'] as const) {
        for (const rule of [tool, name, tool.toUpperCase()]) {
          for (const one of theirs) expect(holds(kind, rule, one)).toBe(false);
        }
        for (const rule of [`mcp__${name}`, `mcp__${name}__*`, ...theirs])
          expect(holds(kind, rule, tool)).toBe(false);
        expect(holds(kind, `mcp__${name}`, `mcp__${name}__x`)).toBe(true);
      }
      expect(holds('deny', `${tool}*`, `mcp__${name}__x`)).toBe(false);
    }
  });
});
