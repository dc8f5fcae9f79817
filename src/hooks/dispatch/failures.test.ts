import { describe, expect, it } from 'vitest';
import {
  answers,
  capture,
  command,
  dispatchRig,
  exits,
  hooksOf,
  occasion,
  settings,
} from '../../../test/support/dispatch-rig.js';
import { readRaw } from '../answers/read.js';
import type { HookRaw } from '../registry/hook.js';
import type { CallbackEntry } from '../registry/host-callbacks.js';

const NEVER = new Promise<never>(() => {});
const guard = (more: Record<string, unknown> = {}) =>
  capture(hooksOf('PreToolUse', [command('./guard', more)]));
const registered = (entry: Partial<CallbackEntry> = {}) =>
  capture(settings(), {
    callbacks: {
      registered: (event) =>
        event === 'PreToolUse' ? [{ ids: ['hook_0'], onFailure: 'block', ...entry }] : [],
    },
  });

describe('a hook that gives no verdict', () => {
  it('is abandoned at its limit, and what it says later is discarded', async () => {
    let answer: (() => void) | undefined;
    const { dispatch, asked, notices } = dispatchRig(
      guard({ timeout: 0.05 }),
      () =>
        new Promise((resolve) => {
          answer = () => resolve(answers({ decision: 'allow' }));
        }),
    );
    const round = await dispatch.fire('PreToolUse', occasion());
    expect(round.reports).toMatchObject([
      {
        failure: { cause: 'timeout', message: 'no answer within 0.05 s' },
        refuses: true,
        answer: { decision: 'none' },
      },
    ]);
    expect(asked[0]?.request.signal.aborted).toBe(true);
    expect(notices()).toEqual([]);
    answer?.();
    await new Promise((resolve) => setTimeout(resolve, 5));
    expect(notices('hook_late')).toEqual([expect.stringContaining('discarded')]);
    expect(round.reports[0]?.answer.decision).toBe('none');
  });

  it.each<[string, Record<string, unknown>, boolean]>([
    ['PreToolUse', {}, true],
    ['PreToolUse', { onFailure: 'continue' }, false],
    ['PostToolUse', {}, false],
    ['PostToolUse', { onFailure: 'block' }, true],
    ['Stop', { onFailure: 'block' }, false],
    ['Notification', { onFailure: 'block' }, false],
  ])('at %s with %j refuses: %s', async (event, more, expected) => {
    const { dispatch, notices } = dispatchRig(
      capture(hooksOf(event, [command('./g', more)])),
      async () => exits(126),
    );
    const { reports } = await dispatch.fire(event as 'PreToolUse', occasion());
    expect(reports[0]?.refuses === true).toBe(expected);
    expect(notices('hook_failed').join()).toEqual(
      expected
        ? ''
        : expect.stringMatching(/command "\.\/g" \(.*:1\) failed after .* s \(exit-code: 126\)/),
    );
  });

  const DENIES =
    '{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"deny"}}';
  const late = { kind: 'failed', failure: { cause: 'timeout', message: 'late' } } as const;
  it.each<[string, HookRaw, boolean]>([
    ['a no and exit code 127', exits(127, DENIES), true],
    ['a no and a signal', { ...exits(0, DENIES), signal: 'SIGKILL' } as HookRaw, true],
    ['a no beside a log', exits(0, `checked\n${DENIES}`), true],
    ['half a no', exits(0, DENIES.slice(0, -2)), true],
    ['a no of another event', exits(0, DENIES.replace('PreToolUse', 'PostToolUse')), true],
    ['a no that is contradicted', exits(0, '{"decision":"block","decision":"approve"}'), true],
    ['a misspelt no', exits(0, '{"permisionDecision":"deny"}'), true],
    ['a no as UTF-16', exits(0, [...DENIES].join('\0')), true],
    ['a no of its own', exits(0, '{"allowed": false}'), true],
    ['a no as the body of a 403', { ...late, printed: '{"decision":"block"}' }, true],
    ['a word that is none', { kind: 'value', value: { decision: 'rejected' } }, true],
    ['nothing', exits(127), false],
    ['half a yes', exits(0, DENIES.replace('deny', 'allow').slice(0, -2)), false],
    ['a trace', exits(9, 'Error: blocked by nothing'), false],
    ['silence', late, false],
  ])('that may fail and said %s refuses: %s', async (_what, raw, expected) => {
    const { dispatch } = dispatchRig(guard({ onFailure: 'continue' }), async () => raw, {
      read: readRaw,
    });
    const { reports } = await dispatch.fire('PreToolUse', occasion());
    expect(reports[0]?.failure).toBeDefined();
    expect(reports[0]?.refuses === true).toBe(expected);
  });

  it('is one that is no hook, which is not run', async () => {
    const snapshot = capture(hooksOf('PreToolUse', [{ type: 'command' }]));
    const { dispatch, asked } = dispatchRig(snapshot);
    const { reports } = await dispatch.fire('PreToolUse', occasion());
    expect(reports).toMatchObject([{ refuses: true, failure: { cause: 'cannot-start' } }]);
    expect(asked).toEqual([]);
  });

  it('is every guard when nobody waits any more, whatever it was registered for', async () => {
    const { dispatch, news } = dispatchRig(guard({ onFailure: 'continue' }), () => NEVER);
    const control = new AbortController();
    const waiting = dispatch.fire('PreToolUse', occasion({ signal: control.signal }));
    await new Promise((resolve) => setTimeout(resolve, 5));
    control.abort();
    expect(await waiting).toMatchObject({
      reports: [{ refuses: true, failure: { cause: 'unavailable' } }],
    });
    expect(news.map(({ type }) => type)).toEqual(['hook_started', 'hook_finished']);
    expect(news.at(-1)).toMatchObject({ outcome: 'cancelled' });
    const asleep = await dispatch.fire('PreToolUse', occasion({ signal: control.signal }));
    expect(asleep).toMatchObject({ reports: [{ refuses: true }] });
    expect(news).toHaveLength(2);
  });

  it('of a host passes only with an error, and only where the host says so', async () => {
    const failing = async (
      entry: Partial<CallbackEntry>,
      behave: Parameters<typeof dispatchRig>[1],
      more = {},
    ) => {
      const rig = dispatchRig(registered(entry), behave, more);
      const { reports } = await rig.dispatch.fire('PreToolUse', occasion());
      return {
        refuses: reports[0]?.refuses === true,
        told: rig.notices('hook_callback_failed').length,
        news: rig.news,
      };
    };
    const throws = () => Promise.reject(new Error('BOOM'));
    const invalid = { cause: 'invalid-output', message: 'x' } as const;
    const unread = {
      read: () => ({ answer: { decision: 'none', fields: {} } as const, failure: invalid }),
    };
    const misread = {
      read: () => ({
        answer: { decision: 'none', fields: {} } as const,
        failure: { ...invalid, cause: 'wrong-event' as const },
      }),
    };
    const said = (value: unknown) => async () => ({ kind: 'value', value }) as const;
    const lenient = { onFailure: 'continue' } as const;
    expect(await failing({}, throws)).toMatchObject({ refuses: true, told: 0 });
    expect(await failing(lenient, throws)).toMatchObject({ refuses: false, told: 1 });
    expect(await failing({ ...lenient, timeoutMs: 20 }, () => NEVER)).toMatchObject({
      refuses: true,
    });
    expect(await failing(lenient, said({ x: 1 }), unread)).toMatchObject({ refuses: false });
    expect(await failing(lenient, said({ x: 1 }), misread)).toMatchObject({ refuses: true });
    const gone = async () =>
      ({ kind: 'failed', failure: { cause: 'unavailable', message: 'closed' } }) as const;
    expect(await failing(lenient, gone)).toMatchObject({ refuses: true });
    for (const no of [
      { decision: 'block', continue: 'x' },
      { continue: false },
      { hookSpecificOutput: { permissionDecision: 'ask' } },
      { hookSpecificOutput: { decision: { behavior: 'deny' } } },
    ]) {
      expect(await failing(lenient, said(no), unread)).toMatchObject({ refuses: true });
    }
    // Callbacks make no news of their own.
    expect((await failing({}, throws)).news).toEqual([]);
  });
});
