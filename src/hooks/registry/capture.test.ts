import { describe, expect, it } from 'vitest';
import {
  capture,
  command,
  group,
  hooksOf,
  PROJECT,
  SKILL,
  settings,
  sourced,
} from '../../../test/support/dispatch-rig.js';
import type { SettingSource, Sourced } from '../../lib/sourced.js';
import { HOOK_EVENTS } from '../../protocol/hooks/hook-events.js';
import type { CaptureSource } from './capture.js';
import type { HookSnapshot } from './captured.js';
import type { Hook, HookEventName } from './hook.js';

function hooks(snapshot: HookSnapshot, event: HookEventName = 'PreToolUse'): readonly Hook[] {
  return (snapshot.hooks[event] ?? []).map(({ hook }) => hook);
}

function first(snapshot: HookSnapshot, event: HookEventName = 'PreToolUse'): Hook {
  const [hook] = hooks(snapshot, event);
  if (hook === undefined) throw new Error(`no hook: ${JSON.stringify(snapshot.skipped)}`);
  return hook;
}

const callbacks: NonNullable<CaptureSource['callbacks']> = {
  registered: (event) =>
    event === 'PreToolUse'
      ? [{ matcher: 'Bash', ids: ['hook_0', 'hook_1'], onFailure: 'block' }]
      : [],
};

function fromEach(...sources: readonly SettingSource[]) {
  return sources.map((source, index) =>
    sourced(group([command(`./${source}`)]), source, index + 1),
  );
}

describe('what is captured', () => {
  it('names, places and freezes a hook', () => {
    const handler = command('./guard.sh', { args: ['-x'], timeout: 5, if: 'Bash(rm *)' });
    const values = settings({
      'hooks.PreToolUse': [sourced(group([handler], { matcher: 'Bash' }), 'project', 12)],
    });
    const hook = first(capture(values));
    expect(hook).toEqual({
      id: 'PreToolUse/project/.claude/settings.json:12/0',
      event: 'PreToolUse',
      role: 'gate',
      matcher: 'Bash',
      handler: { type: 'command', command: './guard.sh', args: ['-x'], if: 'Bash(rm *)' },
      source: 'project',
      file: `${PROJECT}/.claude/settings.json`,
      line: 12,
      timeoutMs: 5_000,
      onFailure: 'block',
      label: 'command "./guard.sh -x" (.claude/settings.json:12)',
    });
    expect(Object.isFrozen(hook) && Object.isFrozen(hook.handler)).toBe(true);
    handler.command = './other.sh';
    expect(hook.handler).toMatchObject({ command: './guard.sh' });
  });

  it('keeps the order: as the settings list them, plugins, skills and agents, callbacks', () => {
    const plugin = {
      ...SKILL,
      kind: 'plugin',
      name: 'p',
      hooks: { PreToolUse: [group([command('./plugin')])] },
    } as const;
    const snapshot = capture(settings({ 'hooks.PreToolUse': fromEach('managed', 'cli', 'user') }), {
      callbacks,
      scoped: [SKILL, plugin],
    });
    expect(hooks(snapshot).map(({ label }) => label.split(' (')[0])).toEqual([
      'command "./managed"',
      'command "./cli"',
      'command "./user"',
      'command "./plugin"',
      'command "./skill.sh"',
      'callback hook_0',
      'callback hook_1',
    ]);
  });

  it('gives every hook an id of its own, the same each time', () => {
    const twice = [group([command('a'), command('b')]), group([command('c')])];
    const values = settings({ 'hooks.PreToolUse': twice.map((one) => sourced(one, 'project', 3)) });
    const ids = hooks(capture(values, { callbacks })).map(({ id }) => id);
    expect(ids).toEqual([
      'PreToolUse/project/.claude/settings.json:3/0',
      'PreToolUse/project/.claude/settings.json:3/1',
      'PreToolUse/project/.claude/settings.json:3/0~2',
      'PreToolUse/sdk/hook_0',
      'PreToolUse/sdk/hook_1',
    ]);
    expect(hooks(capture(values, { callbacks })).map(({ id }) => id)).toEqual(ids);
  });

  it.each([
    [{ type: 'http', url: 'https://host/x?token=1' }, 'http "https://host/x"'],
    [{ type: 'mcp_tool', server: 's', tool: 't' }, 'mcp_tool "s/t"'],
    [{ type: 'prompt', prompt: 'Is\nit safe?' }, 'prompt "Is\\nit safe?"'],
    [{ type: 'agent', prompt: 'x'.repeat(200) }, `agent "${'x'.repeat(79)}…"`],
    [command('curl -H "Authorization: Bearer sk-abcdefghijklmnop"'), '[redacted]'],
  ])('labels %j in one line', (handler, expected) => {
    const { label } = first(capture(hooksOf('PreToolUse', [handler])));
    expect(label).toContain(expected);
    expect(label).not.toMatch(/[\n\u001b]/);
  });

  it('knows every event', () => {
    for (const event of Object.keys(HOOK_EVENTS) as HookEventName[]) {
      const { role } = first(capture(hooksOf(event, [command('x')])), event);
      expect(role).toBe(HOOK_EVENTS[event].role);
    }
  });
});

describe('variables that look secret', () => {
  const handed = (source: SettingSource, named?: readonly string[]) => {
    const wanted = ['GITHUB_TOKEN', 'PLAIN'];
    const hook = sourced(group([command('x', { allowedEnvVars: wanted })]), source);
    const values = settings({ 'hooks.PreToolUse': [hook] });
    const key = 'httpHookAllowedEnvVars';
    const snapshot = capture({
      ...values,
      has: (one, counts) => (one === key ? named !== undefined : values.has(one, counts)),
      said: (one) => (one === key ? (named ?? []) : []).map((name) => sourced(name, 'user')),
    });
    const { handler } = first(snapshot);
    const got = handler.type === 'command' ? handler.allowedEnvVars : undefined;
    return { got, told: snapshot.notes.join() };
  };

  it.each(['project', 'local', 'plugin'] as const)('are not a %s’s to hand over', (source) => {
    const { got, told } = handed(source);
    expect(got).toEqual(['PLAIN']);
    expect(told).toContain('it is not given GITHUB_TOKEN, which only a person can hand over');
    expect(handed(source, []).got).toEqual(['PLAIN']);
    expect(handed(source, ['GITHUB_TOKEN'])).toEqual({ got: ['GITHUB_TOKEN', 'PLAIN'], told: '' });
  });

  it.each(['user', 'cli', 'managed'] as const)('are a %s hook’s own affair', (source) => {
    expect(handed(source)).toEqual({ got: ['GITHUB_TOKEN', 'PLAIN'], told: '' });
  });
});

it('tells a host of callbacks for an event that does not exist', () => {
  const callbacks = { registered: () => [], events: () => ['PreTooluse', 'Stop', '__proto__'] };
  expect(capture(settings(), { callbacks }).notes).toEqual([
    expect.stringContaining(
      '"PreTooluse", and there is no such event, so they are never asked; did you mean PreToolUse?',
    ),
    expect.stringContaining('"__proto__", and there is no such event'),
  ]);
});

describe('limits', () => {
  const limit = (
    event: HookEventName,
    handler: Readonly<Record<string, unknown>>,
    {
      single = {},
      env = {},
    }: { single?: Record<string, Sourced<unknown>>; env?: Record<string, string> } = {},
  ) => {
    const list = { [`hooks.${event}`]: [sourced(group([handler]))] };
    return first(capture(settings(list, single), { env }), event).timeoutMs;
  };
  const perEvent = (event: string, ms: unknown) => ({
    [`portcullis.hookTimeouts.${event}`]: sourced(ms, 'user'),
  });
  const variable = (ms: string) => ({ CLAUDE_CODE_SESSIONEND_HOOKS_TIMEOUT_MS: ms });

  it.each<[HookEventName, Record<string, unknown>, number]>([
    ['PreToolUse', command('x'), 600_000],
    ['PreToolUse', command('x', { timeout: 0.5 }), 500],
    ['PreToolUse', { type: 'prompt', prompt: 'x' }, 30_000],
    ['PreToolUse', { type: 'agent', prompt: 'x' }, 60_000],
    ['UserPromptSubmit', command('x'), 30_000],
    ['UserPromptSubmit', { type: 'agent', prompt: 'x' }, 60_000],
    ['MessageDisplay', command('x'), 10_000],
    ['SessionEnd', command('x'), 1_500],
    ['SessionEnd', command('x', { timeout: 10 }), 10_000],
    ['SessionEnd', command('x', { timeout: 600 }), 60_000],
    ['PreToolUse', command('x', { timeout: 1e9 }), 2_147_483_647],
  ])('%s %j: %i ms', (event, handler, expected) => {
    expect(limit(event, handler)).toBe(expected);
  });

  it('come from the settings where the hook names none', () => {
    const single = perEvent('PreToolUse', 5_000);
    expect(limit('PreToolUse', command('x'), { single })).toBe(5_000);
    expect(limit('PreToolUse', { type: 'agent', prompt: 'x' }, { single })).toBe(5_000);
    expect(limit('PreToolUse', command('x', { timeout: 7 }), { single })).toBe(7_000);
    expect(limit('PostToolUse', command('x'), { single })).toBe(600_000);
  });

  it('of a project are for its own hooks, not for its user’s guards and not for callbacks', () => {
    const single = { 'portcullis.hookTimeouts.PreToolUse': sourced(5, 'project') };
    const sources = ['user', 'managed', 'cli', 'local', 'project'] as const;
    const list = sources.map((source) => sourced(group([command(source)]), source));
    const callbacks = { registered: () => [{ ids: ['a'], onFailure: 'block' as const }] };
    const { hooks } = capture(settings({ 'hooks.PreToolUse': list }, single), { callbacks });
    expect(hooks.PreToolUse?.map(({ hook }) => [hook.source, hook.timeoutMs])).toEqual([
      ['user', 600_000],
      ['managed', 600_000],
      ['cli', 600_000],
      ['local', 5],
      ['project', 5],
      ['sdk', 60_000],
    ]);
  });

  it('of SessionEnd come from a variable', () => {
    expect(limit('SessionEnd', command('x'), { env: variable('9000') })).toBe(9_000);
    expect(limit('SessionEnd', command('x'), { env: variable('9000000') })).toBe(60_000);
    expect(limit('SessionEnd', command('x'), { env: variable('soon') })).toBe(1_500);
    expect(limit('SessionEnd', command('x', { timeout: 3 }), { env: variable('9000') })).toBe(
      3_000,
    );
  });

  it('of SessionEnd are not raised by a plugin', () => {
    const plugin = {
      ...SKILL,
      kind: 'plugin',
      hooks: { SessionEnd: [group([command('x', { timeout: 30 })])] },
    } as const;
    expect(first(capture(settings(), { scoped: [plugin] }), 'SessionEnd').timeoutMs).toBe(1_500);
  });

  it('of callbacks are the host’s', () => {
    const of = (event: HookEventName, timeoutMs?: number) =>
      first(
        capture(settings(), {
          callbacks: {
            registered: (one) =>
              one === event
                ? [
                    {
                      ids: ['h'],
                      onFailure: 'block',
                      timeoutMs,
                    },
                  ]
                : [],
          },
        }),
        event,
      ).timeoutMs;
    expect(of('PreToolUse')).toBe(60_000);
    expect(of('PreToolUse', 200)).toBe(200);
    expect(of('SessionEnd')).toBe(1_500);
    expect(of('SessionEnd', 9e9)).toBe(60_000);
  });
});

describe('what a failure means', () => {
  const meaning = (event: HookEventName, more: Record<string, unknown>, single = {}) => {
    const list = { [`hooks.${event}`]: [sourced(group([command('x', more)]))] };
    const snapshot = capture(settings(list, single));
    return { onFailure: first(snapshot, event).onFailure, notes: snapshot.notes };
  };
  const open = (value: string, source: SettingSource = 'user') => ({
    'portcullis.hookFailure': sourced(value, source, 4),
  });

  it.each<[HookEventName, Record<string, unknown>, string]>([
    ['PreToolUse', {}, 'block'],
    ['PreToolUse', { onFailure: 'continue' }, 'continue'],
    ['PreToolUse', { async: true }, 'continue'],
    ['PreToolUse', { asyncRewake: true, onFailure: 'block' }, 'continue'],
    ['UserPromptSubmit', {}, 'block'],
    ['PostToolUse', {}, 'continue'],
    ['PostToolUse', { onFailure: 'block' }, 'block'],
    ['PreCompact', { onFailure: 'block' }, 'block'],
    ['Stop', { onFailure: 'block' }, 'continue'],
    ['SubagentStop', { onFailure: 'block' }, 'continue'],
    ['TaskCompleted', { onFailure: 'block' }, 'continue'],
    ['TeammateIdle', { onFailure: 'block' }, 'continue'],
    ['Notification', { onFailure: 'block' }, 'continue'],
  ])('%s %j: %s', (event, more, expected) => {
    expect(meaning(event, more).onFailure).toBe(expected);
  });

  it('is said where a wish has no effect', () => {
    expect(meaning('Stop', { onFailure: 'block' }).notes.join()).toContain('no effect at Stop');
    expect(meaning('Notification', { onFailure: 'block' }).notes.join()).toContain('only watch');
  });

  it('is opened by the user or an administrator alone', () => {
    const opened = meaning('PreToolUse', {}, open('open'));
    expect(opened.onFailure).toBe('continue');
    expect(meaning('PreToolUse', {}, open('open', 'managed')).onFailure).toBe('continue');
    expect(meaning('PreToolUse', { onFailure: 'block' }, open('open'))).toEqual({
      onFailure: 'block',
      notes: [],
    });
    expect(meaning('PreToolUse', {}, open('open', 'project'))).toEqual({
      onFailure: 'block',
      notes: [],
    });
    expect(meaning('PreToolUse', {}, open('closed')).onFailure).toBe('block');
  });
});

describe('switches', () => {
  const values = (single: Record<string, Sourced<unknown>>) =>
    settings(
      { 'hooks.PreToolUse': fromEach('managed', 'cli', 'local', 'project', 'user') },
      single,
    );
  const left = (snapshot: HookSnapshot) =>
    hooks(snapshot)
      .filter(({ source }) => source !== 'sdk')
      .map(({ source }) => source);
  const only = { allowManagedHooksOnly: sourced(true, 'managed', 2) };
  const off = (source: SettingSource) => ({ disableAllHooks: sourced(true, source, 2) });

  it('leave only an administrator’s hooks, say so, and callbacks that restrict', () => {
    const snapshot = capture(values(only), {
      callbacks,
      scoped: [SKILL, { ...SKILL, kind: 'plugin', source: 'managed' }],
    });
    expect(left(snapshot)).toEqual(['managed', 'managed']);
    expect(snapshot.skipped).toHaveLength(5);
    expect(snapshot.skipped[0]).toEqual({
      label: 'command "./cli"',
      why: '`allowManagedHooksOnly` (/etc/managed.json:2) is set',
      origin: '.claude/settings.json:2',
    });
    expect(hooks(snapshot).filter(({ source }) => source === 'sdk')).toMatchObject([
      { restrictOnly: true },
      { restrictOnly: true },
    ]);
    expect(snapshot.capture(SKILL)).toMatchObject({
      hooks: {},
      skipped: [{ why: expect.stringContaining('allowManagedHooksOnly') }],
    });
  });

  it.each<[SettingSource, readonly SettingSource[], boolean]>([
    ['user', ['managed'], false],
    ['cli', ['managed'], false],
    ['managed', [], true],
    ['project', ['managed', 'cli', 'local', 'user'], false],
    ['local', ['managed', 'cli', 'user'], false],
  ])('disableAllHooks of %s leaves %j', (source, expected, restrictOnly) => {
    const snapshot = capture(values(off(source)), { callbacks });
    expect(left(snapshot)).toEqual(expected);
    expect(hooks(snapshot).at(-1)?.restrictOnly === true).toBe(restrictOnly);
    expect(snapshot.skipped).toHaveLength(5 - expected.length);
  });

  it('that are false change nothing', () => {
    const snapshot = capture(
      values({
        disableAllHooks: sourced(false, 'managed'),
        allowManagedHooksOnly: sourced(false, 'managed'),
      }),
    );
    expect(left(snapshot)).toHaveLength(5);
    expect(snapshot.skipped).toEqual([]);
  });
});
