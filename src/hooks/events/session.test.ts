import { describe, expect, it } from 'vitest';
import { type EventHook, eventHooks, FAILED, scene } from '../../../test/support/event-hooks.js';
import { type SessionStarting, sessionEnd, sessionSetup, sessionStart } from './session.js';

const NOTHING_STARTED = { contexts: [], watchPaths: [], reloadSkills: false };

const started = async (hooks: readonly EventHook[], starting: SessionStarting) => {
  const rig = eventHooks({ SessionStart: hooks });
  return { ...rig, result: await sessionStart(rig, starting, scene) };
};

describe('SessionStart hooks', () => {
  it('are not asked when there are none', async () => {
    const { result, fired } = await started([], { source: 'startup' });
    expect(result).toEqual(NOTHING_STARTED);
    expect(fired).toEqual([]);
  });

  it('are matched by source and read what the session is', async () => {
    const { fired } = await started([{ matcher: 'resume' }], {
      source: 'resume',
      model: 'm',
      session_title: 't',
      seconds_since_last_response: 60,
      context_tokens: 5,
      prompt_cache_likely_expired: true,
    });
    expect(fired).toMatchObject([
      {
        event: 'SessionStart',
        occasion: {
          matched: ['resume'],
          fields: { source: 'resume', model: 'm', session_title: 't', context_tokens: 5 },
        },
      },
    ]);
    expect((await started([{ matcher: 'resume' }], { source: 'startup' })).fired).toEqual([]);
  });

  it('give context, one for each hook, in declared order', async () => {
    const { result } = await started(
      [{ context: 'plain' }, { context: 'field', text: 'field\n' }, { text: 'other' }],
      { source: 'startup' },
    );
    expect(result.contexts).toEqual(['plain', 'field']);
  });

  it('join their first messages, agree on the strongest title, add up paths', async () => {
    const { result } = await started(
      [
        { fields: { initialUserMessage: 'one', watchPaths: ['/a', 3, '', '/b'] } },
        { fields: { initialUserMessage: 'two', sessionTitle: ' first ', watchPaths: ['/b'] } },
        { fields: { initialUserMessage: 7, sessionTitle: 'second', reloadSkills: true } },
      ],
      { source: 'startup' },
    );
    expect(result).toEqual({
      contexts: [],
      initialUserMessage: 'one\n\ntwo',
      sessionTitle: 'first',
      watchPaths: ['/a', '/b'],
      reloadSkills: true,
    });
  });

  it.each(['clear', 'compact'] as const)('name no session on %s', async (source) => {
    const { result } = await started([{ fields: { sessionTitle: 'x' } }], { source });
    expect(result.sessionTitle).toBeUndefined();
  });

  it('cannot hold the session up: a no and a stop are told, the rest still counts', async () => {
    const { result, told } = await started(
      [
        { label: 'a.sh', decision: 'deny', reason: 'not today', text: 'printed', context: 'c' },
        { label: 'b.sh', stop: 'enough', context: 'd' },
        FAILED,
      ],
      { source: 'startup' },
    );
    expect(result.contexts).toEqual(['c', 'd']);
    expect(told).toHaveLength(3);
    expect(told[0]).toContain('a.sh said no: not today');
    expect(told[1]).toContain('b.sh wants everything to stop: enough');
    expect(told[2]).toContain('guard failed: guard.sh');
  });

  it('say nothing to the model by what they printed before they failed', async () => {
    const { result } = await started([{ text: 'half', report: { exitCode: 1 } }], {
      source: 'startup',
    });
    expect(result.contexts).toEqual([]);
  });

  it('that answer later have said nothing now', async () => {
    const { result, told } = await started(
      [{ asyncMs: 1, context: 'late', decision: 'deny', fields: { reloadSkills: true } }],
      { source: 'startup' },
    );
    expect(result).toEqual(NOTHING_STARTED);
    expect(told).toEqual([]);
  });
});

describe('Setup hooks', () => {
  it('give context', async () => {
    const rig = eventHooks({ Setup: [{ matcher: 'init', context: 'ready' }] });
    expect(await sessionSetup(rig, { trigger: 'init' }, scene)).toEqual(['ready']);
    expect(await sessionSetup(rig, { trigger: 'maintenance' }, scene)).toEqual([]);
    expect(rig.fired).toMatchObject([{ occasion: { fields: { trigger: 'init' } } }]);
  });
});

describe('SessionEnd hooks', () => {
  it('are waited for', async () => {
    const rig = eventHooks({ SessionEnd: [{ decision: 'deny', reason: 'stay' }] });
    await sessionEnd(rig, { reason: 'logout' }, scene);
    expect(rig.fired).toMatchObject([{ occasion: { fields: { reason: 'logout' } } }]);
    expect(rig.told[0]).toContain('stay');
  });

  it('are cut short at the limit, and told to end', async () => {
    const rig = eventHooks({ SessionEnd: [{ after: new Promise(() => {}) }] });
    await sessionEnd({ ...rig, endMs: 1 }, { reason: 'other' }, scene);
    expect(rig.fired[0]?.occasion.signal.aborted).toBe(true);
    expect(rig.told).toEqual(['SessionEnd hooks were cut short: they took longer than 1 ms']);
  });

  it('do not throw whatever happens', async () => {
    const rig = eventHooks();
    const dispatch = { has: () => true, fire: () => Promise.reject(new Error('broken')) };
    await sessionEnd({ ...rig, dispatch }, { reason: 'other' }, scene);
    expect(rig.told).toEqual(['SessionEnd hooks were cut short: broken']);
  });

  it('do not run with a signal that has aborted', async () => {
    const rig = eventHooks({ SessionEnd: [{}] });
    await sessionEnd(rig, { reason: 'clear' }, scene);
    expect(rig.fired).toHaveLength(1);
    const signal = AbortSignal.abort(new Error('twice interrupted'));
    await sessionEnd(rig, { reason: 'clear' }, { ...scene, signal });
    expect(rig.fired).toHaveLength(1);
    expect(rig.told).toEqual(['SessionEnd hooks were cut short: twice interrupted']);
  });
});
