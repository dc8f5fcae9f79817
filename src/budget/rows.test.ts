import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { UsageLedger } from '../model/usage.js';
import { ZERO_USAGE } from '../protocol/content.js';
import { accountRows, agentRows, wireRow } from './rows.js';

const call = fc.record({
  agent: fc.constantFrom('main', 'main/a#1', 'main/a#1/b#1', 'main/a#2', 'lost'),
  model: fc.constantFrom('claude-opus-5', 'claude-haiku-4-5', 'strange'),
  input: fc.nat(100_000),
  read: fc.nat(100_000),
  output: fc.nat(10_000),
});

function ledgerOf(
  calls: readonly { agent: string; model: string; input: number; read: number; output: number }[],
) {
  const ledger = new UsageLedger();
  for (const { agent, model, input, read, output } of calls) {
    const usage = {
      ...ZERO_USAGE,
      input_tokens: input,
      cache_read_input_tokens: read,
      output_tokens: output,
    };
    ledger.add({ agent, model, provider: 'anthropic', usage });
  }
  return ledger;
}

const knows = (path: string) => (path === 'lost' ? undefined : { id: path, type: 'x' });

describe('rows by agent', () => {
  it('add up to the total, to the last digit, and leave nothing out', () => {
    fc.assert(
      fc.property(fc.array(call), (calls) => {
        const ledger = ledgerOf(calls);
        const rows = accountRows(ledger, knows);
        const total = ledger.total();
        for (const field of [
          'inputTokens',
          'outputTokens',
          'cacheReadInputTokens',
          'requests',
          'costUsd',
          'unpricedRequests',
        ] as const) {
          expect(rows.reduce((sum, { totals }) => sum + totals[field], 0)).toBe(total[field]);
        }
        expect(rows.some(({ agent }) => agent.startsWith('unattributed'))).toBe(
          calls.some(({ agent }) => agent === 'lost'),
        );
      }),
    );
  });

  it('never call an unknown price zero', () => {
    const priced = { agent: 'main', model: 'claude-opus-5', input: 1_000_000, read: 0, output: 0 };
    const rows = accountRows(ledgerOf([priced, { ...priced, model: 'strange' }]), knows);
    expect(rows.map(wireRow)).toMatchObject([
      { agent: 'main', cost_usd: null, known_cost_usd: 5, unpriced_requests: 1 },
    ]);
  });

  it('say what is left over in one row where there are very many', () => {
    const calls = Array.from({ length: 500 }, (_, index) => ({
      agent: `main/a#${index}`,
      model: 'claude-opus-5',
      input: 1,
      read: 0,
      output: 0,
    }));
    const rows = accountRows(ledgerOf(calls), knows);
    expect(rows).toHaveLength(200);
    expect(rows.at(-1)).toMatchObject({ agent: '301 more agents', totals: { inputTokens: 301 } });
    expect(rows.reduce((sum, { totals }) => sum + totals.requests, 0)).toBe(500);
  });

  it('are told only where there is more than one', () => {
    const main = { agent: 'main', model: 'claude-opus-5', input: 1, read: 0, output: 0 };
    const of = (ledger: UsageLedger) => agentRows({ rows: () => accountRows(ledger, knows) });
    expect(of(ledgerOf([main]))).toEqual({});
    expect(of(ledgerOf([main, { ...main, agent: 'lost' }])).agents).toHaveLength(2);
    expect(agentRows(undefined)).toEqual({});
  });
});
