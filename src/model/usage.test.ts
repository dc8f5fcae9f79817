import { describe, expect, it } from 'vitest';
import type { Usage } from '../protocol/content.js';
import { costOf, hasPrice } from './catalog/models.js';
import { UsageLedger } from './usage.js';

const million: Usage = {
  input_tokens: 1_000_000,
  output_tokens: 1_000_000,
  cache_creation_input_tokens: 1_000_000,
  cache_read_input_tokens: 1_000_000,
};

describe('costOf', () => {
  it('adds input, output, cache writes and cache reads at list price', () => {
    expect(costOf({ model: 'claude-opus-4-8', provider: 'anthropic', usage: million })).toBeCloseTo(
      5 + 25 + 6.25 + 0.5,
    );
    expect(costOf({ model: 'claude-opus-5-5', provider: 'anthropic', usage: million })).toBeCloseTo(
      4 + 20 + 5 + 0.2,
    );
  });

  it('charges one-hour cache writes twice the input price', () => {
    const usage = {
      ...million,
      cache_creation: { ephemeral_5m_input_tokens: 400_000, ephemeral_1h_input_tokens: 600_000 },
    };
    expect(costOf({ model: 'claude-haiku-4-5', provider: 'anthropic', usage })).toBeCloseTo(
      1 + 5 + 0.4 * 1.25 + 0.6 * 2 + 0.1,
    );
  });

  it('knows that a long prompt costs more with some models', () => {
    const usage = {
      ...million,
      input_tokens: 100_000,
      cache_creation_input_tokens: 0,
      cache_read_input_tokens: 0,
    };
    const model = 'claude-haiku-5-5';
    expect(costOf({ model, provider: 'anthropic', usage })).toBeCloseTo(0.01 + 0.5);
    const longer = { ...usage, cache_read_input_tokens: 1 };
    expect(costOf({ model, provider: 'anthropic', usage: longer })).toBeCloseTo(0.05 + 2.5);
  });

  it('never guesses', () => {
    expect(
      costOf({ model: 'claude-opus-9', provider: 'anthropic', usage: million }),
    ).toBeUndefined();
    expect(
      costOf({ model: 'qwen', provider: 'openai-compatible', usage: million }),
    ).toBeUndefined();
    expect(hasPrice({ model: 'claude-opus-5', provider: 'openai-compatible' })).toBe(false);
    expect(hasPrice({ model: 'constructor', provider: 'anthropic' })).toBe(false);
  });
});

describe('UsageLedger', () => {
  it('keeps totals that add up, and says how much is unpriced', () => {
    const ledger = new UsageLedger();
    const provider = 'anthropic';
    const cost = ledger.add({ agent: 'main', model: 'claude-opus-5', provider, usage: million });
    expect(cost).toBeCloseTo(36.75);
    ledger.add({ agent: 'main/planner#1', model: 'claude-haiku-4-5', provider, usage: million });
    ledger.add({ agent: 'main/planner#1/x#1', model: 'claude-opus-5', provider, usage: million });
    ledger.add({ agent: 'main/planner#10', model: 'strange', provider, usage: million });
    const total = ledger.total();
    expect(total).toMatchObject({ requests: 4, inputTokens: 4_000_000, unpricedRequests: 1 });
    for (const view of [ledger.byModel(), ledger.byAgent()]) {
      const rows = [...view.values()];
      expect(rows.reduce((sum, row) => sum + row.costUsd, 0)).toBeCloseTo(total.costUsd);
      expect(rows.reduce((sum, row) => sum + row.outputTokens, 0)).toBe(total.outputTokens);
    }
    expect(ledger.byModel().get('strange')).toMatchObject({ costUsd: 0, unpricedRequests: 1 });
  });
});
