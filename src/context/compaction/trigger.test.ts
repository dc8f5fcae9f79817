import { describe, expect, it } from 'vitest';
import {
  autoCompactThreshold,
  compactThreshold,
  createCompactionBreaker,
  mayCompact,
} from './trigger.js';

const limits = { window: 200_000, maxOutput: 32_000, env: {} };

describe('the threshold', () => {
  it('leaves room for an answer and a buffer', () => {
    expect(compactThreshold(limits)).toBe(200_000 - 20_000 - 13_000);
    expect(compactThreshold({ ...limits, maxOutput: 8_000 })).toBe(179_000);
  });

  it('stays useful for small windows', () => {
    expect(compactThreshold({ ...limits, window: 8_000 })).toBe(8_000 - 2_000 - 800);
  });

  it('can be lowered by a percentage, never raised', () => {
    const at = (percent: string): number =>
      compactThreshold({ ...limits, env: { CLAUDE_AUTOCOMPACT_PCT_OVERRIDE: percent } });
    expect(at('50')).toBe(90_000);
    expect(at('100')).toBe(167_000);
    for (const odd of ['', '0', '-5', 'many', 'NaN']) expect(at(odd)).toBe(167_000);
  });

  it('goes by another window when told so, within the model’s', () => {
    const at = (window: string): number =>
      compactThreshold({ ...limits, env: { CLAUDE_CODE_AUTO_COMPACT_WINDOW: window } });
    expect(at('100000')).toBe(70_000);
    expect(at('900000')).toBe(167_000);
    expect(at('x')).toBe(167_000);
  });

  it('decides, unless compaction is off', () => {
    expect(autoCompactThreshold(limits)).toBe(167_000);
    for (const env of [{ DISABLE_AUTO_COMPACT: '1' }, { DISABLE_COMPACT: 'true' }]) {
      expect(autoCompactThreshold({ ...limits, env })).toBe(Number.POSITIVE_INFINITY);
    }
  });

  it('keeps the manual way open when only the automatic one is off', () => {
    expect(mayCompact('manual', { DISABLE_AUTO_COMPACT: '1' })).toBe(true);
    expect(mayCompact('manual', { DISABLE_COMPACT: '1' })).toBe(false);
    expect(mayCompact('auto', { DISABLE_AUTO_COMPACT: '0', DISABLE_COMPACT: '' })).toBe(true);
  });
});

describe('the breaker', () => {
  const at = (
    turn: number,
    postTokens = 10,
  ): Parameters<ReturnType<typeof createCompactionBreaker>['compacted']>[0] => ({
    turn,
    postTokens,
    threshold: 100,
  });

  it('ends a run whose history stays too long', () => {
    expect(createCompactionBreaker().compacted(at(5, 100))).toBe('rapid_refill');
  });

  it('ends a run that fills up three times within two turns each', () => {
    const breaker = createCompactionBreaker();
    expect([1, 3, 5, 6].map((turn) => breaker.compacted(at(turn)))).toEqual([
      'go_on',
      'go_on',
      'go_on',
      'rapid_refill',
    ]);
  });

  it('forgets when there was a pause between', () => {
    const breaker = createCompactionBreaker();
    const turns = [1, 3, 5, 8, 10, 12];
    expect(turns.map((turn) => breaker.compacted(at(turn)))).not.toContain('rapid_refill');
    expect(breaker.compacted(at(14))).toBe('rapid_refill');
  });
});
