import { describe, expect, it } from 'vitest';
import {
  agentHooks,
  capture,
  command,
  group,
  hooksOf,
  SKILL,
  settings,
  sourced,
} from '../../../test/support/dispatch-rig.js';
import type { HookSnapshot } from './captured.js';
import type { Hook, HookEventName } from './hook.js';

function hooks(snapshot: HookSnapshot, event: HookEventName = 'PreToolUse'): readonly Hook[] {
  return (snapshot.hooks[event] ?? []).map(({ hook }) => hook);
}

function _first(snapshot: HookSnapshot, event: HookEventName = 'PreToolUse'): Hook {
  const [hook] = hooks(snapshot, event);
  if (hook === undefined) throw new Error(`no hook: ${JSON.stringify(snapshot.skipped)}`);
  return hook;
}

describe('what is no hook', () => {
  const broken: readonly unknown[] = [
    null,
    'x',
    [],
    {},
    { type: 'shell', command: 'x' },
    { type: 'command' },
    { type: 'command', command: '' },
    { type: 'command', command: 5 },
    command('x', { timeout: 0 }),
    command('x', { timeout: '5' }),
    command('x', { args: 'y' }),
    command('x', { if: 3 }),
    command('x', { once: 'yes' }),
    command('x', { onFailure: 'ignore' }),
    { type: 'http', url: 'http://x', headers: { a: 1 } },
    { type: 'mcp_tool', server: 's' },
    { type: 'callback', id: 'hook_0' },
    JSON.parse('{"__proto__": {"type": "command", "command": "x"}}'),
  ];

  it.each(broken.map((one) => [one]))('is a guard that always fails: %j', (handler) => {
    const [captured] = capture(hooksOf('PreToolUse', [handler])).hooks.PreToolUse ?? [];
    expect(captured?.broken).toMatchObject({ cause: 'cannot-start' });
    expect(captured?.hook.onFailure).toBe('block');
    expect(captured?.hook.label).toMatch(/^broken PreToolUse hook \(.claude\/settings\.json:1\)$/);
  });

  it.each([
    [null],
    ['x'],
    [command('x')],
    [{ matcher: 5, hooks: [command('x')] }],
    [{ agents: [], hooks: [command('x')] }],
    [{ hooks: command('x') }],
  ])('is a group that guards everything and fails: %j', (one) => {
    const [captured] =
      capture(settings({ 'hooks.PreToolUse': [sourced(one)] })).hooks.PreToolUse ?? [];
    expect(captured?.broken?.message).toContain('no group of hooks');
  });

  it('is told where it only watches or lets things pass', () => {
    for (const event of ['Notification', 'Stop', 'PostToolUse'] as const) {
      const snapshot = capture(hooksOf(event, [{ type: 'command' }]));
      expect(snapshot.hooks[event]).toBeUndefined();
      expect(snapshot.skipped).toMatchObject([
        { label: `broken ${event} hook`, why: '`command` is missing' },
      ]);
    }
    const wants = capture(hooksOf('PostToolUse', [{ type: 'command', onFailure: 'block' }]));
    expect(wants.hooks.PostToolUse?.[0]?.broken).toBeDefined();
  });

  it('is a kind that the event does not take', () => {
    const snapshot = capture(hooksOf('SessionStart', [{ type: 'http', url: 'http://x' }]));
    expect(snapshot.skipped).toMatchObject([
      { why: expect.stringContaining('SessionStart takes no such hooks') },
    ]);
  });

  it('has an "if" at an event that is about no call', () => {
    for (const event of ['Stop', 'UserPromptSubmit'] as const) {
      const snapshot = capture(hooksOf(event, [command('x', { if: 'Bash' })]));
      expect(snapshot.hooks[event]).toBeUndefined();
      expect(snapshot.skipped).toMatchObject([{ why: expect.stringContaining('"if"') }]);
      expect(hooks(capture(hooksOf(event, [command('x', { if: ' ' })])), event)).toHaveLength(1);
    }
    expect(
      hooks(capture(hooksOf('PostToolUse', [command('x', { if: 'Bash' })])), 'PostToolUse'),
    ).toHaveLength(1);
  });
});

describe('hooks of skills and agents', () => {
  it('turn the stop of an agent into the stop of a subagent', () => {
    const mine = agentHooks('a1', { Stop: [group([command('x')])] });
    const snapshot = capture(settings(), { scoped: [mine] });
    expect(Object.keys(snapshot.hooks)).toEqual(['SubagentStop']);
    const main = capture(settings(), { scoped: [{ ...mine, agentId: 'main' }] });
    expect(Object.keys(main.hooks)).toEqual(['Stop']);
    const skill = capture(settings(), {
      scoped: [{ ...SKILL, hooks: { Stop: [group([command('x')])] } }],
    });
    expect(Object.keys(skill.hooks)).toEqual(['Stop']);
  });

  it('do not run from a folder that is not trusted', () => {
    const snapshot = capture(settings(), { scoped: [{ ...SKILL, trusted: false }] });
    expect(snapshot.hooks.PreToolUse).toBeUndefined();
    expect(snapshot.skipped).toMatchObject([{ why: expect.stringContaining('not trusted') }]);
  });

  it('refuse every call when they cannot be read', () => {
    for (const unreadable of ['x', null, [command('x')]]) {
      const snapshot = capture(settings(), { scoped: [{ ...SKILL, hooks: unreadable }] });
      expect(snapshot.hooks.PreToolUse?.[0]?.broken).toBeDefined();
    }
  });

  it('say which events there are not', () => {
    const snapshot = capture(settings(), {
      scoped: [{ ...SKILL, hooks: { PreTool: [], constructor: [] } }],
    });
    expect(snapshot.skipped.map(({ why }) => why)).toEqual([
      'there is no such event',
      'there is no such event',
    ]);
  });
});
