import { describe, expect, it } from 'vitest';
import { createLimits, type LimitOptions } from './units.js';

const limits = (more: Partial<LimitOptions>) =>
  createLimits({
    maxTurns: undefined,
    maxBudgetUsd: undefined,
    spentUsd: () => 0,
    unpricedCalls: () => 0,
    stuck: () => undefined,
    ...more,
  });

describe('limits', () => {
  it('lets a run go on while nothing is used up', () => {
    expect(limits({ maxTurns: 2, maxBudgetUsd: 1, spentUsd: () => 0.5 })(1)).toBeUndefined();
    expect(limits({ spentUsd: () => 99, unpricedCalls: () => 3 })(50)).toBeUndefined();
  });

  it('stops at the turns, the budget and a model that is stuck', () => {
    expect(limits({ maxTurns: 2 })(2)).toEqual({ kind: 'max_turns', limit: 2 });
    expect(limits({ maxBudgetUsd: 1, spentUsd: () => 1 })(0)).toMatchObject({ kind: 'budget' });
    expect(limits({ stuck: () => 'why' })(0)).toEqual({ kind: 'stuck', message: 'why' });
  });

  it('takes a budget for used up that cannot be counted', () => {
    expect(limits({ maxBudgetUsd: 1, unpricedCalls: () => 1 })(0)).toMatchObject({
      kind: 'budget',
      limitUsd: 1,
    });
  });
});
