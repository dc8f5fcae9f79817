import { describe, expect, it } from 'vitest';
import { resolveRuleName } from './rule-names.js';

function isMeant(kind: 'allow' | 'ask' | 'deny', rule: string, names: readonly string[]): boolean {
  const resolved = resolveRuleName(rule, { kind, scoped: false, knownTools: [] });
  return 'matchesTool' in resolved && resolved.matchesTool(names);
}

describe('a rule that spells a tool as its server does', () => {
  it.each([
    ['mcp__s__get.data', 'mcp__s__get_data'],
    ['mcp__s__get/data x', 'mcp__s__get_data_x'],
    ['mcp__my.server__t', 'mcp__my_server__t'],
    ['mcp__my.server', 'mcp__my_server__t'],
    ['mcp__s__get.*', 'mcp__s__get_data'],
    ['mcp__s__\u{1f600}', 'mcp__s___'],
    ['mcp__s__Üml', 'mcp__s___ml'],
  ])('%s restricts %s, and grants nothing', (rule, name) => {
    expect(isMeant('deny', rule, [name])).toBe(true);
    expect(isMeant('ask', rule, [name])).toBe(true);
    expect(isMeant('allow', rule, [name])).toBe(false);
  });

  it('restricts a tool by its long name, and no other one', () => {
    const long = `mcp__s__${'z'.repeat(80)}_x`;
    expect(isMeant('deny', `mcp__s__${'z'.repeat(80)}.x`, ['mcp__s__zz_1234', long])).toBe(true);
    expect(isMeant('deny', 'mcp__s__get.data', ['mcp__s__getXdata'])).toBe(false);
    expect(isMeant('deny', 'mcp__s__get.data', ['mcp__other__get_data'])).toBe(false);
  });
});
