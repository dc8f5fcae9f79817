import { plus, type UsageLedger, type UsageTotals, ZERO_TOTALS } from '../model/usage.js';
import type { AgentRef } from '../protocol/agent-ref.js';

/** What one agent used, excluding its descendants. */
export interface AccountRow {
  /** The agent's path; `unattributed` for calls that belong to no known agent. */
  readonly agent: string;
  /** Absent for rows that combine several agents. */
  readonly id?: string;
  readonly type?: string;
  readonly models: readonly string[];
  readonly totals: UsageTotals;
}

/** A row in the field names of the result message; an unknown cost is null, never zero. */
export function wireRow({ agent, id, type, models, totals }: AccountRow): Record<string, unknown> {
  return {
    agent,
    agent_id: id,
    agent_type: type,
    models,
    requests: totals.requests,
    input_tokens: totals.inputTokens,
    output_tokens: totals.outputTokens,
    cache_creation_input_tokens: totals.cacheCreationInputTokens,
    cache_read_input_tokens: totals.cacheReadInputTokens,
    cost_usd: totals.unpricedRequests > 0 ? null : totals.costUsd,
    // The priced part, which adds up to `total_cost_usd`.
    known_cost_usd: totals.costUsd,
    ...(totals.unpricedRequests > 0 ? { unpriced_requests: totals.unpricedRequests } : {}),
  };
}

const UNATTRIBUTED = 'unattributed';

/** The most rows to list; the rest is added up in one row. */
const MOST_ROWS = 200;

/**
 * Every call of the session in rows by agent. Added up in order they equal the ledger's total
 * exactly: calls of unknown agents have a row of their own.
 */
export function accountRows(
  ledger: Pick<UsageLedger, 'byAgent' | 'modelsOf'>,
  knows: (path: string) => Pick<AgentRef, 'id' | 'type'> | undefined,
): readonly AccountRow[] {
  const rows = [...ledger.byAgent()].map(([agent, totals]): AccountRow => {
    const ref = knows(agent);
    const models = ledger.modelsOf(agent);
    return ref === undefined
      ? { agent: `${UNATTRIBUTED} (${agent})`, models, totals }
      : { agent, id: ref.id, type: ref.type, models, totals };
  });
  if (rows.length <= MOST_ROWS) return rows;
  const rest = rows.slice(MOST_ROWS - 1);
  return [
    ...rows.slice(0, MOST_ROWS - 1),
    {
      agent: `${rest.length} more agents`,
      models: [...new Set(rest.flatMap(({ models }) => models))],
      totals: rest.reduce((sum, { totals }) => plus(sum, totals), ZERO_TOTALS),
    },
  ];
}

/** The rows for the result of a run; empty while the main agent is the only one. */
export function agentRows(budget: { rows(): readonly AccountRow[] } | undefined): {
  readonly agents?: readonly Readonly<Record<string, unknown>>[];
} {
  const rows = budget?.rows() ?? [];
  return rows.length > 1 ? { agents: rows.map(wireRow) } : {};
}
