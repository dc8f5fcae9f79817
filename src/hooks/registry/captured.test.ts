import { describe, expect, it } from 'vitest';
import { agentAt } from '../../../test/support/dispatch-rig.js';
import { MAIN_AGENT } from '../../protocol/agent-ref.js';
import { type MatchingSpec, matchingOf } from './captured.js';
import type { HookEventName } from './hook.js';

function matches(spec: MatchingSpec, matched: readonly string[], agent = MAIN_AGENT): boolean {
  return matchingOf(spec).matches({ agent, matched });
}

describe('matchers of tool events', () => {
  const MCP = 'mcp__srv__do_it';

  it.each<[string | undefined, string, boolean]>([
    [undefined, 'Bash', true],
    ['', 'Bash', true],
    ['*', 'Bash', true],
    ['.*', 'Bash', true],
    ['Bash', 'Bash', true],
    ['Bash|Write', 'Write', true],
    ['Bash | Write', 'Write', true],
    ['Bash,Write', 'Write', true],
    ['^Ba', 'Bash', true],
    ['B.*', 'Bash', true],
    ['ash$', 'Bash', true],
    ['Edit.*', 'NotebookEdit', true],
    ['mcp__srv__.*', MCP, true],
    ['mcp__srv__*', MCP, true],
    ['mcp__.*', MCP, true],
    ['mcp__*', MCP, true],
    [MCP, MCP, true],
    ['Ba', 'Bash', false],
    ['Bash', 'Write', false],
    ['Bash', MCP, false],
    // Where we guard more than the reference.
    ['bash', 'Bash', true],
    ['Bash(touch *)', 'Bash', true],
    ['Bash(touch *)', 'Write', false],
    ['[', 'Write', true],
  ])('%s for %s: %s', (matcher, name, expected) => {
    for (const event of ['PreToolUse', 'PostToolUse'] as const) {
      expect(matches({ event, matcher }, [name])).toBe(expected);
    }
  });

  it('go by all names of a tool', () => {
    expect(matches({ event: 'PreToolUse', matcher: 'Task' }, ['Agent', 'Task'])).toBe(true);
    expect(matches({ event: 'PreToolUse', matcher: 'Tasks' }, ['Agent', 'Task'])).toBe(false);
  });

  it('answer the same when asked again', () => {
    const { matches: fits } = matchingOf({ event: 'PreToolUse', matcher: '^B' });
    const ask = (name: string) => fits({ agent: MAIN_AGENT, matched: [name] });
    for (let time = 0; time < 2; time++) {
      expect(ask('Bash')).toBe(true);
      expect(ask('Write')).toBe(false);
    }
    for (let index = 0; index < 1_000; index++) expect(ask(`tool${index}`)).toBe(false);
    expect(ask('Bash')).toBe(true);
  });

  it('cannot be made to hang', () => {
    const spec: MatchingSpec = { event: 'PreToolUse', matcher: '^(a+)+$' };
    expect(matches(spec, [`${'a'.repeat(20_000)}!`])).toBe(false);
    expect(matches(spec, ['a'.repeat(20_000)])).toBe(true);
  });

  it('say what they are taken to mean', () => {
    const rule = matchingOf({ event: 'PreToolUse', matcher: 'Bash(rm *)' });
    expect(rule.notes.join()).toContain('every call of Bash');
    expect(rule.lost).toBeUndefined();
    const guard = matchingOf({ event: 'PreToolUse', matcher: '(?i)bash' });
    expect(guard.notes.join()).toContain('every tool');
    expect(guard.lost).toBeUndefined();
  });

  it('that cannot be read switch off a hook that only watches', () => {
    const watcher = matchingOf({ event: 'PermissionDenied', matcher: '[' });
    expect(watcher.lost).toContain('cannot be used');
    expect(matchingOf({ event: 'PermissionDenied', matcher: 'Bash(x)' }).lost).toBeUndefined();
  });
});

describe('matchers of other events', () => {
  it.each<[HookEventName, string, string, boolean]>([
    ['SessionStart', 'startup', 'startup', true],
    ['SessionStart', 'startup|resume', 'resume', true],
    ['SessionStart', 'startup', 'resume', false],
    ['PreCompact', 'auto', 'manual', false],
    ['SubagentStop', '^my-plugin:.*$', 'my-plugin:reviewer', true],
    ['StopFailure', 'rate_limit|overloaded', 'overloaded', true],
    ['Notification', 'Permission_Prompt', 'permission_prompt', true],
    // Literal names of files, wherever they are.
    ['FileChanged', '.env|package.json', '/p/sub/.env', true],
    ['FileChanged', '.env', '/p/xenv', false],
    ['FileChanged', 'a.b', '/p/axb', false],
    ['FileChanged', '.env', '/p/.env/other', false],
    ['FileChanged', '', '/p/any', true],
    ['FileChanged', '*', '/p/any', true],
    // These are about nothing that a matcher could name.
    ['Stop', 'Bash', 'whatever', true],
    ['UserPromptSubmit', '[', 'whatever', true],
  ])('%s %s for %s: %s', (event, matcher, value, expected) => {
    expect(matches({ event, matcher }, [value])).toBe(expected);
  });

  it('match when nothing is there to be compared with', () => {
    expect(matches({ event: 'PreToolUse', matcher: 'Bash' }, [])).toBe(true);
  });
});

describe('whose calls are meant', () => {
  it.each<[string, string, boolean]>([
    ['main', 'main', true],
    ['main', 'main/reviewer#1', false],
    ['main/*', 'main/reviewer#1', true],
    ['main/**', 'main/a#1/b#2', true],
    ['reviewer', 'main/a#1/reviewer#2', true],
    ['reviewer', 'main/a#1', false],
    ['**/reviewer#*', 'main/reviewer#1', true],
    // Names nobody, so everybody is guarded.
    ['reviewer/x', 'main', true],
    ['', 'main/a#1', true],
  ])('%s for %s: %s', (agents, path, expected) => {
    expect(matches({ event: 'PreToolUse', agents }, ['Bash'], agentAt(path))).toBe(expected);
  });

  it('is said when it is nobody', () => {
    expect(matchingOf({ event: 'PreToolUse', agents: 'a b' }).notes.join()).toContain(
      'every agent',
    );
    expect(matchingOf({ event: 'Notification', agents: 'a b' }).lost).toContain('no agent');
  });

  it('is one agent alone', () => {
    const reviewer = agentAt('main/reviewer#1');
    const spec: MatchingSpec = { event: 'PreToolUse', agentId: reviewer.id };
    expect(matches(spec, ['Bash'], reviewer)).toBe(true);
    expect(matches(spec, ['Bash'], agentAt('main/reviewer#2'))).toBe(false);
    expect(matches(spec, ['Bash'])).toBe(false);
  });
});
