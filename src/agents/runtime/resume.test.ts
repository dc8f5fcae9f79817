import { describe, expect, it } from 'vitest';
import { type AgentRef, MAIN_AGENT } from '../../protocol/agent-ref.js';
import type { PermissionMode } from '../../protocol/permissions.js';
import { builtinAgents } from '../definitions/builtin-agents.js';
import type { AgentDefinition } from '../definitions/definition.js';
import {
  type AgentLimits,
  applyRecordedLimits,
  inheritedLimits,
  isFinal,
  readInheritedLimits,
  recordedLimits,
  refWithLimits,
  unenforceable,
} from '../limits/limits.js';
import { type EarlierAgent, notResumable, requestAgain } from './resume.js';

const at = (path: string, more: Partial<AgentRef> = {}): AgentRef => ({
  id: 'a1',
  type: 'x',
  path,
  depth: path.split('/').length - 1,
  background: false,
  ...more,
});
const [general] = builtinAgents();
if (general === undefined) throw new Error('there is no agent');
const hold = (workspace?: string): AgentLimits => inheritedLimits(general, { workspace });

function earlier(ref: AgentRef, more: Partial<EarlierAgent> = {}): EarlierAgent {
  const talk = { messages: [], parentUuid: null, usedUuids: [] };
  return { ref, description: 'd', model: 'm', talk, above: [], once: false, ...more };
}

describe('who may go on with an ended agent', () => {
  it.each([
    ['main', true],
    ['main/p#1', true],
    ['main/p#1/q#1', true],
    ['main/p#1/q#1/x#2', false],
    ['main/p#11', false],
    ['main/s#1', false],
  ])('%s: %s', (path, may) => {
    const why = notResumable(earlier(at('main/p#1/q#1/x#1')), at(path));
    expect(why === undefined).toBe(may);
  });

  it('nobody, where it worked for a skill or what held it is not known', () => {
    const ref = at('main/p#1/x#1');
    expect(notResumable(earlier(ref, { once: true }), MAIN_AGENT)).toContain('skill');
    expect(notResumable(earlier(ref, { above: undefined }), MAIN_AGENT)).toContain('not known');
  });
});

describe('the place that an agent goes back to', () => {
  const again = (ref: AgentRef, above: readonly AgentLimits[] = []) =>
    requestAgain(earlier(ref, { above }), { definition: general, prompt: 'p', from: MAIN_AGENT })
      .reopen;

  it.each([
    ['none of its own', at('main/x#1'), [], undefined],
    ['a directory', at('main/x#1', { workspace: '/r/part' }), [], '/r/part'],
    [
      'its own tree, which is made again',
      at('main/x#1', { workspace: '/r/.claude/worktrees/agent-a1', isolation: 'worktree' }),
      [],
      undefined,
    ],
    [
      'the tree of the one above it',
      at('main/p#1/x#1', { workspace: '/t/agent-p', isolation: 'worktree' }),
      [hold('/t/agent-p')],
      '/t/agent-p',
    ],
    [
      'a directory in the tree of the one above it',
      at('main/p#1/x#1', { workspace: '/t/agent-p/part', isolation: 'worktree' }),
      [hold('/t/agent-p')],
      '/t/agent-p/part',
    ],
    [
      'a private one, made anew',
      at('main/x#1', { workspace: '/tmp/s', isolation: 'scratch' }),
      [],
      undefined,
    ],
  ] as const)('%s', (_what, ref, above, place) => {
    expect(again(ref, above)).toBe(place);
  });
});

describe('what a transcript says of those above', () => {
  const one = JSON.parse(JSON.stringify(hold('/w')));

  it('is read as it was written', () => {
    expect(readInheritedLimits([one, one], 3)).toEqual([hold('/w'), hold('/w')]);
    expect(readInheritedLimits(undefined, 1)).toEqual([]);
  });

  it.each([
    ['missing', undefined],
    ['too short', [one]],
    ['too long', [one, one, one]],
    ['no list', 'x'],
    ['of another mode', [one, { ...one, mode: 'free' }]],
    ['without its bans', [one, { name: 'x', source: 'user' }]],
    ['with odd tools', [one, { ...one, tools: [1] }]],
    ['of an inherited source', [one, { ...one, source: 'constructor' }]],
  ])('counts for nothing when it is %s', (_what, value) => {
    expect(readInheritedLimits(value, 3)).toBeUndefined();
  });
});

describe('what an agent had when it began', () => {
  const of = (more: Partial<AgentDefinition>): AgentDefinition => ({ ...general, ...more });
  const goneOn = (before: Partial<AgentDefinition>, now: Partial<AgentDefinition>) => {
    // Round trip through a transcript.
    const marked = JSON.parse(JSON.stringify(refWithLimits(at('main/x#1'), of(before))));
    return applyRecordedLimits(of(now), recordedLimits(marked));
  };

  it.each([
    [undefined, undefined, undefined],
    [undefined, ['Read'], ['Read']],
    [['Read'], undefined, ['Read']],
    [['Read', 'Bash'], ['Bash', 'Edit'], ['Bash']],
    [['Bash(git *)'], ['Bash'], ['Bash(git *)']],
    [['Bash'], ['Bash(git *)'], ['Bash(git *)']],
    [['Bash(git *)'], ['Bash(npm *)'], []],
    [['mcp__s__a'], ['mcp__s'], ['mcp__s__a']],
    [[], ['Read'], []],
  ])('tools %j, then %j: %j', (before, now, both) => {
    const tools = (list: string[] | undefined) => ({ tools: list });
    expect(goneOn(tools(before), tools(now)).tools).toEqual(both);
  });

  it.each([
    [undefined, undefined, undefined],
    ['plan', undefined, 'plan'],
    ['plan', 'acceptEdits', 'plan'],
    ['acceptEdits', 'dontAsk', 'dontAsk'],
    ['acceptEdits', 'acceptEdits', 'acceptEdits'],
    [undefined, 'acceptEdits', 'default'],
    ['acceptEdits', undefined, 'default'],
    [undefined, 'bypassPermissions', undefined],
    ['plan', 'bypassPermissions', 'plan'],
  ] as const)('mode %s, then %s: %s', (before, now, both) => {
    const mode = (one: PermissionMode | undefined) => ({ permissionMode: one });
    expect(goneOn(mode(before), mode(now)).permissionMode).toBe(both);
  });

  it('is kept with the bans of both, and without servers that it did not have', () => {
    const before = { tools: ['Read'], mcpServers: [{ name: 'old' }], disallowedTools: ['Bash'] };
    const now = { mcpServers: [{ name: 'old' }, { name: 'new' }], disallowedTools: ['Write'] };
    expect(goneOn(before, now)).toMatchObject({
      tools: ['Read', 'mcp__old'],
      mcpServers: [{ name: 'old' }],
      disallowedTools: ['Write', 'Bash'],
    });
  });

  it('has the lesser of both in turns, budgets and questions', () => {
    const before = { maxTurns: 3, asks: 'deny' as const, budget: { turns: 9, usd: 1 } };
    const now = { maxTurns: 8, asks: 'bubble' as const, budget: { turns: 2, tokens: 5 } };
    const both = { maxTurns: 3, asks: 'deny', budget: { turns: 2, usd: 1, tokens: 5 } };
    expect(goneOn(before, now)).toMatchObject(both);
    expect(goneOn(now, before)).toMatchObject(both);
    expect(goneOn({}, before)).toMatchObject(before);
    expect(goneOn(before, {})).toMatchObject(before);
  });

  it('is kept by its hooks only where they are in force', () => {
    const hooks = (command: string, event = 'PreToolUse') => ({
      [event]: [{ matcher: 'Bash', hooks: [{ type: 'command', command }] }],
    });
    const began = refWithLimits(at('main/x#1'), { ...general, hooks: hooks('a') }).held;
    const kept = (now: Partial<AgentDefinition>): boolean =>
      unenforceable({ ...general, ...now }, began) === undefined;
    expect(kept({ hooks: hooks('a') })).toBe(true);
    expect(kept({ hooks: { ...hooks('a'), ...hooks('b', 'Stop') } })).toBe(true);
    expect(kept({ hooks: hooks('b') })).toBe(false);
    expect(kept({ hooks: hooks('a', 'PostToolUse') })).toBe(false);
    expect(kept({})).toBe(false);
    expect(kept({ hooks: hooks('a'), trusted: false })).toBe(false);
    expect(unenforceable(general, refWithLimits(at('main/x#1'), general).held)).toBeUndefined();
  });

  it.each([
    [{ oneShot: true }, {}, 'end for good'],
    [{}, { oneShot: true }, 'end for good'],
    [{ foregroundOnly: true }, {}, 'never run in the background'],
    [{}, { foregroundOnly: true }, 'never run in the background'],
    [{}, {}, undefined],
  ])('of a kind that was %j and is %j: %s', (before, now, why) => {
    const { held } = refWithLimits(at('main/x#1'), { ...general, ...before });
    const said = isFinal({ ...general, ...now }, recordedLimits({ ...at('main/x#1'), held }));
    if (why === undefined) expect(said).toBeUndefined();
    else expect(said).toContain(why);
  });

  it('is whatever its type says now where its transcript does not say', () => {
    expect(applyRecordedLimits(general, recordedLimits(at('main/x#1')))).toBe(general);
  });
});
