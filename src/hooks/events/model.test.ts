import { describe, expect, it } from 'vitest';
import {
  type EventHook,
  eventHooks,
  FAILED,
  FAILED_OPEN,
  scene,
} from '../../../test/support/event-hooks.js';
import { afterModelSwitch, beforeModelSwitch, type ModelSwitch } from './model.js';

const CHANGE: ModelSwitch = {
  from_model: 'small',
  to_model: 'large',
  requested_model: 'l',
  source: 'sdk',
  context_tokens: 100,
  prompt_cache_warm: true,
  cache_ttl: '5m',
  estimated_cache_write_usd: 0.5,
  pricing: 'catalog',
};

const switchTo = async (
  hooks: readonly EventHook[],
  confirm?: (question: string) => Promise<boolean>,
) => {
  const rig = eventHooks({ PreModelSwitch: hooks });
  const refusal = await beforeModelSwitch(rig, CHANGE, scene, confirm);
  return { refusal, fired: rig.fired };
};

describe('PreModelSwitch hooks', () => {
  it('are not asked when there are none', async () => {
    expect(await switchTo([])).toEqual({ refusal: undefined, fired: [] });
  });

  it('read the whole change', async () => {
    const { fired, refusal } = await switchTo([{ decision: 'allow' }, {}, FAILED_OPEN]);
    expect(fired).toMatchObject([{ occasion: { matched: [], fields: CHANGE } }]);
    expect(refusal).toBeUndefined();
  });

  it.each<[EventHook, string]>([
    [{ label: 'a', decision: 'deny', reason: 'dear' }, 'a said no: dear'],
    [{ label: 'a', decision: 'deny' }, 'a said no'],
    [{ label: 'a', stop: 'halt' }, 'a wants everything to stop: halt'],
    [{ label: 'a', decision: 'defer' }, 'a puts the decision off'],
    [{ label: 'a', decision: 'ask' }, 'a wants a person to decide; no person can be asked'],
  ])('refuse: %j', async (hook, text) => {
    expect((await switchTo([{ decision: 'allow' }, hook])).refusal).toBe(text);
  });

  it('refuse by failing, whatever the others and a person say', async () => {
    const asks: EventHook = { decision: 'ask' };
    const { refusal } = await switchTo([asks, FAILED], async () => {
      throw new Error('must not be asked');
    });
    expect(refusal).toContain('guard failed: guard.sh');
    expect(refusal).toContain('timeout');
    expect(refusal).toContain('used 1.2 s');
  });

  it('put their question to a person, whose answer counts', async () => {
    const questions: string[] = [];
    const asks: EventHook = { label: 'a', decision: 'ask', reason: 'costs 0.5' };
    const yes = await switchTo([asks], async (question) => {
      questions.push(question);
      return true;
    });
    expect(yes.refusal).toBeUndefined();
    expect(questions).toEqual(['a wants a person to decide: costs 0.5']);
    expect((await switchTo([asks], async () => false)).refusal).toContain('the answer was no');
    const broken = await switchTo([asks], () => Promise.reject(new Error('gone')));
    expect(broken.refusal).toContain('there was no answer (gone)');
  });
});

describe('PostModelSwitch hooks', () => {
  it('give context', async () => {
    const rig = eventHooks({
      PostModelSwitch: [
        { context: 'plain' },
        { context: 'field' },
        { decision: 'deny', reason: 'x' },
      ],
    });
    expect(await afterModelSwitch(rig, { ...CHANGE, source: 'auto' }, scene)).toEqual([
      'plain',
      'field',
    ]);
    expect(rig.fired).toMatchObject([{ occasion: { fields: { source: 'auto' } } }]);
    expect(rig.told).toHaveLength(1);
    expect(await afterModelSwitch(eventHooks(), CHANGE, scene)).toEqual([]);
  });
});
