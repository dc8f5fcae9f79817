import { describe, expect, it } from 'vitest';
import {
  agentAt,
  agentHooks,
  answers,
  barrier,
  capture,
  command,
  dispatchRig,
  exits,
  group,
  hooksOf,
  occasion,
  SKILL,
  settings,
  sourced,
} from '../../../test/support/dispatch-rig.js';

const NOTHING = capture(settings());

describe('hooks that run once', () => {
  const once = (event: string, more: Record<string, unknown> = {}) =>
    capture(hooksOf(event, [command('./first', { once: true, ...more })]));

  it('run once in a session, whatever snapshot they stand in', async () => {
    const { dispatch, asked } = dispatchRig(once('PreToolUse'));
    expect((await dispatch.fire('PreToolUse', occasion())).reports).toHaveLength(1);
    expect(dispatch.has('PreToolUse', occasion())).toBe(false);
    dispatch.replace(once('PreToolUse'));
    expect((await dispatch.fire('PreToolUse', occasion())).reports).toEqual([]);
    expect(asked).toHaveLength(1);
  });

  it('have not had their say as guards while they fail', async () => {
    const raws = [exits(3), exits(0), exits(0)];
    const { dispatch, asked } = dispatchRig(
      once('PreToolUse'),
      async () => raws.shift() ?? exits(0),
    );
    expect((await dispatch.fire('PreToolUse', occasion())).reports).toMatchObject([
      { refuses: true },
    ]);
    expect((await dispatch.fire('PreToolUse', occasion())).reports).toMatchObject([
      { exitCode: 0 },
    ]);
    expect((await dispatch.fire('PreToolUse', occasion())).reports).toEqual([]);
    expect(asked).toHaveLength(2);
    const watcher = dispatchRig(once('Notification'), async () => exits(3));
    await watcher.dispatch.fire('Notification', occasion());
    expect(watcher.dispatch.has('Notification', occasion())).toBe(false);
  });

  it('are not passed by calls that come while they are asked', async () => {
    const gate = barrier(2);
    let runs = 0;
    const { dispatch } = dispatchRig(once('PreToolUse'), async () => {
      runs++;
      if (runs === 1) await gate.arrive();
      return runs === 1 ? exits(3) : exits(2);
    });
    const calls = Array.from({ length: 3 }, () => dispatch.fire('PreToolUse', occasion()));
    await gate.arrive();
    const rounds = await Promise.all(calls);
    // The first failed, so the second had to be asked; then it had its say.
    expect(rounds.map(({ reports }) => reports.length)).toEqual([1, 1, 0]);
    expect(rounds[1]?.reports[0]?.answer.decision).toBe('deny');
    expect(runs).toBe(2);
  });

  it('refuse who no longer waits for his turn', async () => {
    const { dispatch } = dispatchRig(
      once('PreToolUse', { onFailure: 'continue' }),
      () => new Promise(() => {}),
    );
    const control = new AbortController();
    void dispatch.fire('PreToolUse', occasion());
    const second = dispatch.fire('PreToolUse', occasion({ signal: control.signal }));
    control.abort();
    expect((await second).reports).toMatchObject([{ refuses: true }]);
  });

  it('are one with their copies', async () => {
    const handler = command('./first', { once: true });
    const values = settings({
      'hooks.PreToolUse': [
        sourced(group([handler]), 'project', 1),
        sourced(group([handler]), 'user', 2),
      ],
    });
    const { dispatch, asked } = dispatchRig(capture(values));
    await dispatch.fire('PreToolUse', occasion());
    await dispatch.fire('PreToolUse', occasion());
    expect(asked).toHaveLength(1);
  });
});

describe('hooks of skills and agents', () => {
  it('of a skill hold from its invocation on, for everybody', async () => {
    const { dispatch, asked } = dispatchRig(NOTHING);
    expect(dispatch.has('PreToolUse', occasion())).toBe(false);
    dispatch.addScoped(SKILL);
    await dispatch.fire('PreToolUse', occasion());
    await dispatch.fire('PreToolUse', occasion({ agent: agentAt('main/x#1') }));
    expect(asked.map(({ hook }) => hook.label)).toEqual([
      'command "./skill.sh" (.claude/skills/deploy/SKILL.md)',
      'command "./skill.sh" (.claude/skills/deploy/SKILL.md)',
    ]);
    dispatch.addScoped(SKILL);
    expect(dispatch.snapshot().hooks.PreToolUse).toHaveLength(1);
  });

  it('of a skill that run once do so for the session', async () => {
    const skill = { ...SKILL, hooks: { PreToolUse: [group([command('x', { once: true })])] } };
    const { dispatch } = dispatchRig(NOTHING);
    dispatch.addScoped(skill);
    await dispatch.fire('PreToolUse', occasion());
    dispatch.addScoped(skill);
    expect(dispatch.has('PreToolUse', occasion())).toBe(false);
  });

  it('of an agent hold for it alone, while it runs', async () => {
    const reviewer = agentAt('main/reviewer#1');
    const { dispatch, asked } = dispatchRig(NOTHING);
    const hooks = { PreToolUse: [group([command('x')])], Stop: [group([command('y')])] };
    const end = dispatch.addScoped(agentHooks(reviewer.id, hooks));
    await dispatch.fire('PreToolUse', occasion());
    await dispatch.fire('PreToolUse', occasion({ agent: agentAt('main/reviewer#2') }));
    expect(asked).toEqual([]);
    await dispatch.fire('PreToolUse', occasion({ agent: reviewer }));
    await dispatch.fire('SubagentStop', occasion({ agent: reviewer, matched: ['reviewer'] }));
    expect(asked.map(({ hook }) => hook.event)).toEqual(['PreToolUse', 'SubagentStop']);
    expect(dispatch.has('Stop', { agent: reviewer, matched: [] })).toBe(false);
    end();
    expect(dispatch.has('PreToolUse', { agent: reviewer, matched: ['Bash'] })).toBe(false);
    end();
  });

  it('of an agent that started anew are not ended by the end of the old one', () => {
    const { dispatch } = dispatchRig(NOTHING);
    const hooks = { PreToolUse: [group([command('x')])] };
    const end = dispatch.addScoped(agentHooks('main', hooks));
    dispatch.addScoped(agentHooks('main', hooks));
    end();
    expect(dispatch.has('PreToolUse', occasion())).toBe(true);
  });

  it('stay when other settings come, under these settings', () => {
    const { dispatch, notices } = dispatchRig(NOTHING);
    dispatch.addScoped(SKILL);
    dispatch.replace(capture(hooksOf('Stop', [command('x')])));
    expect(dispatch.has('PreToolUse', occasion())).toBe(true);
    expect(dispatch.has('Stop', occasion())).toBe(true);
    dispatch.replace(capture(settings({}, { allowManagedHooksOnly: sourced(true, 'managed') })));
    expect(dispatch.has('PreToolUse', occasion())).toBe(false);
    expect(notices()).toEqual([]);
    dispatch.addScoped(SKILL);
    expect(notices('hook_skipped')).toEqual([expect.stringContaining('allowManagedHooksOnly')]);
  });

  it('stand between those of settings and callbacks', () => {
    const snapshot = capture(hooksOf('PreToolUse', [command('./settings')]), {
      callbacks: { registered: () => [{ ids: ['h'], onFailure: 'block' }] },
    });
    const { dispatch } = dispatchRig(snapshot);
    dispatch.addScoped(SKILL);
    const order = dispatch.snapshot().hooks.PreToolUse?.map(({ standing }) => standing);
    expect(order).toEqual(['settings', 'scoped', 'callback']);
  });
});

describe('other hooks', () => {
  it('are in force at once, and what runs goes on as it began', async () => {
    const gate = barrier(2);
    const { dispatch, asked } = dispatchRig(
      capture(hooksOf('PreToolUse', [command('./old')])),
      async ({ label }) => {
        await gate.arrive();
        return answers({ decision: 'deny', reason: label });
      },
    );
    const running = dispatch.fire('PreToolUse', occasion());
    dispatch.replace(capture(hooksOf('PreToolUse', [command('./new')])));
    const next = dispatch.fire('PreToolUse', occasion());
    const reasons = (await Promise.all([running, next])).map(
      ({ reports }) => reports[0]?.answer.reason,
    );
    expect(reasons).toEqual([expect.stringContaining('./old'), expect.stringContaining('./new')]);
    expect(asked).toHaveLength(2);
  });
});

describe('an "if"', () => {
  const guarded = (rule: string, more: Record<string, unknown> = {}) =>
    capture(hooksOf('PreToolUse', [command('x', { if: rule, ...more })]));

  it('decides whether a hook runs', async () => {
    const { dispatch, asked, news } = dispatchRig(guarded('Bash(rm *)'));
    const seen: string[] = [];
    const at = (fits: boolean) =>
      occasion({
        fits: async (rule) => {
          seen.push(rule);
          return fits;
        },
      });
    expect((await dispatch.fire('PreToolUse', at(false))).reports).toEqual([]);
    expect([asked, news]).toEqual([[], []]);
    expect((await dispatch.fire('PreToolUse', at(true))).reports).toHaveLength(1);
    expect(seen).toEqual(['Bash(rm *)', 'Bash(rm *)']);
  });

  it('runs the hook when it cannot be decided', async () => {
    const { dispatch, asked } = dispatchRig(guarded('Bash(rm *)'));
    await dispatch.fire('PreToolUse', occasion({ fits: () => Promise.reject(new Error('lost')) }));
    await dispatch.fire('PreToolUse', occasion());
    expect(asked).toHaveLength(2);
  });

  it('fails the guard when it takes too long', async () => {
    const { dispatch } = dispatchRig(guarded('Bash', { timeout: 0.02 }));
    const at = occasion({ fits: () => new Promise(() => {}) });
    expect((await dispatch.fire('PreToolUse', at)).reports).toMatchObject([
      { refuses: true, failure: { cause: 'timeout' } },
    ]);
  });

  it('is not looked at where it is empty, nor spends the one run of a hook', async () => {
    const { dispatch, asked } = dispatchRig(guarded(' ', { once: true }));
    await dispatch.fire('PreToolUse', occasion({ fits: async () => false }));
    expect(asked).toHaveLength(1);
    const rare = dispatchRig(guarded('Bash(rm *)', { once: true }));
    await rare.dispatch.fire('PreToolUse', occasion({ fits: async () => false }));
    expect(rare.dispatch.has('PreToolUse', occasion())).toBe(true);
  });
});
