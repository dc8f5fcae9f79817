import { describe, expect, it } from 'vitest';
import { resolveRuleName } from './names.js';

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

function problemOf(kind: 'allow' | 'ask' | 'deny', rule: string): unknown {
  const resolved = resolveRuleName(rule, { kind, scoped: false, knownTools: [] });
  return 'why' in resolved ? resolved.remedy : undefined;
}

describe('a rule that no tool of any server can match', () => {
  it.each([
    ['mcp__srv__', 'Write mcp__srv for the whole server, or mcp__srv__tool.'],
    ['MCP__SRV__', 'Write mcp__SRV for the whole server'],
    ['mcp__my.server__', 'Write mcp__my.server for the whole server'],
    ['mcp__s*__', 'Write mcp__s* for the whole server'],
    ['mcp__*__', 'Write mcp__* for the whole server'],
    ['mcp__', 'Write mcp__* for all servers'],
    ['mcp____', 'Write mcp__* for all servers'],
    ['mcp____tool', 'Write mcp__* for all servers'],
    ['mcp__a, mcp__b', 'a rule for each'],
    ['mcp__a__t,mcp__b__t', 'a rule for each'],
    ['mcp__a__t\u200b', 'Type it anew.'],
    ['mcp__\u00ada__t', 'Type it anew.'],
  ])('says what to write instead: %s', (rule, remedy) => {
    expect(problemOf('deny', rule)).toContain(remedy);
    expect(problemOf('ask', rule)).toContain(remedy);
    expect(problemOf('allow', rule)).toEqual(expect.any(String));
  });

  it.each([
    ['mcp__s__get.data', 'Write mcp__s__get_data.'],
    ['mcp__my.server', 'Write mcp__my_server.'],
    ['mcp__s__\u{1f600}', 'Write mcp__s___.'],
  ])('is a grant with characters that no name has: %s', (rule, remedy) => {
    expect(problemOf('allow', rule)).toBe(remedy);
    expect(problemOf('deny', rule)).toBeUndefined();
  });

  it.each([
    ['mcp__srv', 'mcp__srv__t'],
    ['mcp__*', 'mcp__srv__t'],
    ['mcp__srv*', 'mcp__srv2__t'],
    ['mcp__srv__*x', 'mcp__srv__fox'],
    ['mcp__*__t', 'mcp__srv__t'],
    ['mcp__*_', 'mcp__srv__t_'],
    ['mcp__srv___', 'mcp__srv___'],
    ['mcp__srv__a__', 'mcp__srv__a__'],
    ['mcp_____t', 'mcp_____t'],
    ['mcp____a__t', 'mcp____a__t'],
    ['mcp____*', 'mcp____a__t'],
    ['mcp___', 'mcp_____t'],
    ['mcp__s__a,b', 'mcp__s__a_b'],
  ])('is not %s, which holds %s', (rule, name) => {
    expect(problemOf('deny', rule)).toBeUndefined();
    expect(isMeant('deny', rule, [name])).toBe(true);
  });
});
