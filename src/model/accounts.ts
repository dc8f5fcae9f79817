import { knownLimits } from './model-facts.js';
import type { UsageLedger, UsageTotals } from './usage.js';

/** What a session has used, in the field names of the result message. */
export function modelAccounts(
  ledger: UsageLedger,
  /** The model in use; its limits may have been set by the environment. */
  current: { readonly model: string; readonly limits: Limits },
): {
  readonly modelUsage: Readonly<Record<string, unknown>>;
  readonly cost: { readonly knownUsd: number; readonly unknownModels: readonly string[] };
} {
  const rows = [...ledger.byModel()];
  const limitsOf = (model: string): Limits =>
    (model === current.model ? undefined : knownLimits(model)) ?? current.limits;
  return {
    modelUsage: Object.fromEntries(
      rows.map(([model, totals]) => [model, row(totals, limitsOf(model))]),
    ),
    cost: {
      knownUsd: ledger.total().costUsd,
      unknownModels: rows
        .filter(([, totals]) => totals.unpricedRequests > 0)
        .map(([model]) => model),
    },
  };
}

interface Limits {
  readonly contextWindow: number;
  readonly maxOutput: number;
}

function row(totals: UsageTotals, limits: Limits): Readonly<Record<string, unknown>> {
  return {
    inputTokens: totals.inputTokens,
    outputTokens: totals.outputTokens,
    cacheReadInputTokens: totals.cacheReadInputTokens,
    cacheCreationInputTokens: totals.cacheCreationInputTokens,
    webSearchRequests: totals.webSearchRequests,
    costUSD: totals.costUsd,
    // A price that is not known is said to be unknown; the cost above is then a lower bound.
    costBasis: totals.unpricedRequests > 0 ? 'unknown' : 'list',
    contextWindow: limits.contextWindow,
    maxOutputTokens: limits.maxOutput,
  };
}
