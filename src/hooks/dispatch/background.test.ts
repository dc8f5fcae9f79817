import { describe, expect, it } from 'vitest';
import {
  answers,
  type Behaviour,
  capture,
  command,
  dispatchRig,
  exits,
  hooksOf,
  occasion,
} from '../../../test/support/dispatch-rig.js';
import { readRaw } from '../answers/read.js';
import type { HookRaw } from '../registry/hook.js';

/** A hook that ends when it is told to. */
function held(): { readonly behave: Behaviour; end(raw: HookRaw): Promise<void> } {
  let release: (raw: HookRaw) => void = () => {};
  const raw = new Promise<HookRaw>((resolve) => {
    release = resolve;
  });
  return {
    behave: () => raw,
    async end(value) {
      release(value);
      await new Promise((resolve) => setTimeout(resolve, 5));
    },
  };
}

const beside = (event: string, more: Record<string, unknown> = { async: true }) =>
  capture(hooksOf(event, [command('./watch', more)]));

describe('a hook that runs beside the session', () => {
  it('is not waited for, and its no is void', async () => {
    const { behave, end } = held();
    const { dispatch, late, news } = dispatchRig(beside('PreToolUse'), behave);
    const { reports } = await dispatch.fire('PreToolUse', occasion());
    expect(reports).toMatchObject([{ answer: { decision: 'none', asyncMs: 600_000 } }]);
    await end(exits(2, '', 'no'));
    expect(late).toEqual([]);
    expect(reports[0]?.answer.decision).toBe('none');
    expect(news.map(({ type }) => type)).toEqual(['hook_started', 'hook_finished']);
    expect(dispatch.stats()).toMatchObject([{ runs: 1, failures: 0 }]);
  });

  it('hands over what it has for model and person when it ends', async () => {
    const { behave, end } = held();
    const { dispatch, late, notices } = dispatchRig(beside('PostToolUse'), behave);
    await dispatch.fire('PostToolUse', occasion({ toolUseId: 'toolu_1' }));
    expect(late).toEqual([]);
    await end(answers({ context: 'tests pass', systemMessage: 'done' }));
    expect(late).toMatchObject([
      {
        context: 'tests pass',
        toolUseId: 'toolu_1',
        agent: { id: 'main' },
        hook: { event: 'PostToolUse' },
      },
    ]);
    expect(late[0]?.rewake).toBeUndefined();
    expect(notices()).toEqual(['PostToolUse:Bash: done']);
  });

  it('hands over plain text only where that counts', async () => {
    for (const [event, expected] of [
      ['SessionStart', ['hello']],
      ['PostToolUse', []],
    ] as const) {
      const { behave, end } = held();
      const { dispatch, late } = dispatchRig(beside(event), behave, { read: readRaw });
      await dispatch.fire(event, occasion());
      await end(exits(0, 'hello'));
      expect(late.map(({ context }) => context)).toEqual(expected);
    }
  });

  it.each<[Record<string, unknown>, HookRaw, readonly (string | undefined)[]]>([
    [{ asyncRewake: true }, exits(2, 'out', 'tests fail\n'), ['tests fail']],
    [{ asyncRewake: true }, exits(2, 'out', ' '), ['out']],
    [
      { asyncRewake: true },
      exits(2),
      ['command "./watch" (.claude/settings.json:1) wants attention'],
    ],
    [{ asyncRewake: true }, exits(0, 'out'), []],
    [{ async: true }, exits(2, '', 'no'), []],
  ])('%j that ends with %j wakes the model: %j', async (more, raw, expected) => {
    const { behave, end } = held();
    const { dispatch, late } = dispatchRig(beside('PostToolUse', more), behave);
    await dispatch.fire('PostToolUse', occasion());
    await end(raw);
    expect(late.map(({ rewake }) => rewake)).toEqual(expected);
  });

  it('warns when it fails, and refuses nothing', async () => {
    const { behave, end } = held();
    const { dispatch, notices } = dispatchRig(
      beside('PreToolUse', { async: true, onFailure: 'block' }),
      behave,
    );
    const { reports } = await dispatch.fire('PreToolUse', occasion());
    await end(exits(7));
    expect(notices('hook_failed')).toHaveLength(1);
    expect(reports[0]).not.toHaveProperty('refuses');
  });

  it('outlives the call, has its limit, and ends with the session', async () => {
    const { dispatch, asked, news, notices } = dispatchRig(
      beside('PostToolUse'),
      () => new Promise(() => {}),
      { besideCloseMs: 20 },
    );
    const control = new AbortController();
    await dispatch.fire('PostToolUse', occasion({ signal: control.signal }));
    control.abort();
    expect(asked[0]?.request.signal.aborted).toBe(false);
    await dispatch.close();
    expect(asked[0]?.request.signal.aborted).toBe(true);
    expect(news.at(-1)).toMatchObject({ type: 'hook_finished', outcome: 'cancelled' });
    expect(notices()).toEqual([
      expect.stringMatching(
        /"\.\/watch".* was still running when the session ended, and was ended too/,
      ),
    ]);
    await dispatch.fire('PostToolUse', occasion());
    expect(asked).toHaveLength(1);
    const short = dispatchRig(
      beside('PostToolUse', { async: true, timeout: 0.02 }),
      () => new Promise(() => {}),
    );
    await short.dispatch.fire('PostToolUse', occasion());
    await new Promise((resolve) => setTimeout(resolve, 200));
    expect(short.notices('hook_failed')).toEqual([expect.stringContaining('timeout')]);
  });

  it('comes to its end when that takes but a moment after the session', async () => {
    const { behave, end } = held();
    const { dispatch, asked, notices, late } = dispatchRig(beside('PostToolUse'), behave);
    await dispatch.fire('PostToolUse', occasion());
    const closed = dispatch.close();
    await end(answers({ systemMessage: 'audited' }));
    await closed;
    expect(asked[0]?.request.signal.aborted).toBe(false);
    expect(notices()).toEqual(['PostToolUse:Bash: audited']);
    expect(late).toEqual([]);
  });

  it('does no harm when nobody takes what it says', async () => {
    const { behave, end } = held();
    const { dispatch, notices } = dispatchRig(beside('PostToolUse'), behave, {
      background: () => {
        throw new Error('full');
      },
    });
    await dispatch.fire('PostToolUse', occasion());
    await end(answers({ context: 'x' }));
    expect(notices('hook_failed')).toEqual([expect.stringContaining('full')]);
  });
});
