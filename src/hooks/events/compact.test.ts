import { describe, expect, it } from 'vitest';
import { type ScriptedHook, scriptedHooks } from '../../../test/support/scripted-hooks.js';
import { MAIN_AGENT } from '../../protocol/agent-ref.js';
import { afterCompact, beforeCompact } from './compact.js';

const scene = { agent: MAIN_AGENT, cwd: '/there', signal: new AbortController().signal };

function wishes(...hooks: ScriptedHook[]) {
  const { dispatch } = scriptedHooks({ PreCompact: hooks });
  return beforeCompact(dispatch, {
    ...scene,
    trigger: 'manual',
    customInstructions: undefined,
  });
}

describe('hooks before a summary', () => {
  it('are not asked when there are none', async () => {
    const { dispatch, fired } = scriptedHooks({});
    const ahead = { ...scene, trigger: 'auto', customInstructions: undefined } as const;
    expect(await beforeCompact(dispatch, ahead)).toEqual({
      instructions: [],
      preserve: [],
    });
    expect(fired).toEqual([]);
  });

  it('are told why it is made and what the person wants kept', async () => {
    const { dispatch, fired, lastFields } = scriptedHooks({ PreCompact: [{}] });
    await beforeCompact(dispatch, { ...scene, trigger: 'manual', customInstructions: 'the plan' });
    expect(lastFields()).toEqual({ trigger: 'manual', custom_instructions: 'the plan' });
    expect(fired[0]?.occasion.matched).toEqual(['manual']);
    expect(fired[0]?.occasion.mode).toBeUndefined();
    await beforeCompact(dispatch, { ...scene, trigger: 'auto', customInstructions: undefined });
    expect(lastFields()).toEqual({ trigger: 'auto', custom_instructions: null });
  });

  it('add to its instructions by text and by context, and keep words as they are', async () => {
    expect(
      await wishes(
        { text: 'keep the ids\n' },
        { context: 'keep the plan', fields: { preserve: '  KEY = 1\n' } },
        { text: ' ', fields: { preserve: ['a', '', 5, 'b'] } },
        { fields: { preserve: 7 } },
      ),
    ).toEqual({
      instructions: ['keep the ids\n', 'keep the plan'],
      preserve: ['  KEY = 1\n', 'a', 'b'],
    });
  });

  it('hold it back by a no or by continue: false, and are named', async () => {
    expect(
      await wishes({ label: 'a', decision: 'deny', reason: 'not now' }, { text: 'more' }),
    ).toEqual({ blocked: 'not now (a)', instructions: [], preserve: [] });
    expect((await wishes({ stop: 'enough' })).blocked).toBe('enough');
  });

  it('let it be made when they fail, unless they must not', async () => {
    const failure = { cause: 'timeout', message: 'no answer' } as const;
    expect((await wishes({ failure })).blocked).toBeUndefined();
    expect((await wishes({ label: 'a', failure, refuses: true })).blocked).toBe(
      'guard failed: a gave no verdict (timeout: no answer; limit 1 s, used 0.005 s)',
    );
  });
});

describe('hooks after a summary', () => {
  it('are told what it says', async () => {
    const { dispatch, fired, lastFields } = scriptedHooks({ PostCompact: [{}] });
    await afterCompact(dispatch, { ...scene, trigger: 'auto', summary: 'S' });
    expect(lastFields()).toEqual({ trigger: 'auto', compact_summary: 'S' });
    expect(fired[0]?.occasion.matched).toEqual(['auto']);
    const none = scriptedHooks({});
    await afterCompact(none.dispatch, { ...scene, trigger: 'auto', summary: 'S' });
    expect(none.fired).toEqual([]);
  });
});
