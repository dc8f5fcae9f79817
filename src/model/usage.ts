import type { Usage } from '../protocol/content.js';
import { costOf, knownLimits } from './catalog/models.js';

export interface UsageTotals {
  readonly inputTokens: number;
  readonly outputTokens: number;
  readonly cacheReadInputTokens: number;
  readonly cacheCreationInputTokens: number;
  readonly webSearchRequests: number;
  /** Model calls. */
  readonly requests: number;
  /** Dollars of the calls whose price is known. */
  readonly costUsd: number;
  /** Calls whose price is not known; while there are any, `costUsd` is a lower bound. */
  readonly unpricedRequests: number;
}

export interface UsageEntry {
  /** Path of the agent that made the call, as `main/planner#2`. */
  readonly agent: string;
  readonly model: string;
  readonly provider: string;
  readonly usage: Usage;
}

export const ZERO_TOTALS: UsageTotals = {
  inputTokens: 0,
  outputTokens: 0,
  cacheReadInputTokens: 0,
  cacheCreationInputTokens: 0,
  webSearchRequests: 0,
  requests: 0,
  costUsd: 0,
  unpricedRequests: 0,
};

/** What every agent spent on every model. All totals are sums of the same rows, so they add up. */
export class UsageLedger {
  readonly #rows = new Map<string, Map<string, UsageTotals>>();
  #earlier: UsageTotals = ZERO_TOTALS;

  /** Books one model call and returns its cost, undefined when no price is known. */
  add(entry: UsageEntry): number | undefined {
    const { agent, model, provider, usage } = entry;
    const cost = costOf({ model, provider, usage });
    const models = this.#rows.get(agent) ?? new Map<string, UsageTotals>();
    this.#rows.set(agent, models);
    models.set(model, plus(models.get(model) ?? ZERO_TOTALS, totalsOf(usage, cost)));
    return cost;
  }

  /** Books a call of an earlier process of the session: it counts in all sums but `sinceStart`. */
  recall(entry: UsageEntry): void {
    const cost = this.add(entry);
    this.#earlier = plus(this.#earlier, totalsOf(entry.usage, cost));
  }

  /** What this process itself has used. */
  sinceStart(): { readonly costUsd: number; readonly unpricedRequests: number } {
    const { costUsd, unpricedRequests } = this.total();
    return {
      costUsd: costUsd - this.#earlier.costUsd,
      unpricedRequests: unpricedRequests - this.#earlier.unpricedRequests,
    };
  }

  /** The sum of the rows of all agents, in their order: added up so, it is the same to the last digit. */
  total(): UsageTotals {
    return sum([...this.byAgent().values()]);
  }

  byModel(): ReadonlyMap<string, UsageTotals> {
    const result = new Map<string, UsageTotals>();
    for (const models of this.#rows.values()) {
      for (const [model, totals] of models) {
        result.set(model, plus(result.get(model) ?? ZERO_TOTALS, totals));
      }
    }
    return result;
  }

  byAgent(): ReadonlyMap<string, UsageTotals> {
    return new Map([...this.#rows].map(([agent, models]) => [agent, sum([...models.values()])]));
  }

  /** The models that an agent used. */
  modelsOf(agent: string): readonly string[] {
    return [...(this.#rows.get(agent)?.keys() ?? [])];
  }

  /** One agent, without those below it. */
  of(agent: string): UsageTotals {
    return sum([...(this.#rows.get(agent)?.values() ?? [])]);
  }
}

function totalsOf(usage: Usage, cost: number | undefined): UsageTotals {
  return {
    inputTokens: usage.input_tokens,
    outputTokens: usage.output_tokens,
    cacheReadInputTokens: usage.cache_read_input_tokens,
    cacheCreationInputTokens: usage.cache_creation_input_tokens,
    webSearchRequests: usage.server_tool_use?.web_search_requests ?? 0,
    requests: 1,
    costUsd: cost ?? 0,
    unpricedRequests: cost === undefined ? 1 : 0,
  };
}

function sum(totals: readonly UsageTotals[]): UsageTotals {
  return totals.reduce(plus, ZERO_TOTALS);
}

export function plus(a: UsageTotals, b: UsageTotals): UsageTotals {
  const sums: { -readonly [Name in keyof UsageTotals]: number } = { ...a };
  for (const name of Object.keys(ZERO_TOTALS) as (keyof UsageTotals)[]) sums[name] += b[name];
  return sums;
}

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
