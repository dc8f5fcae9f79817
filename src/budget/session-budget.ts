import { err, ok, type Result } from '../lib/result.js';
import type { InputMessage } from '../loop/types.js';
import type { UsageLedger } from '../model/usage.js';
import { type AgentRef, MAIN_AGENT } from '../protocol/agent-ref.js';
import type { AgentSpent } from '../protocol/session-events.js';
import { type AgentUsage, priorUsageOf } from './earlier.js';
import { type AccountRow, accountRows } from './rows.js';
import { type AgentSpending, createSpending, type SpendingParts } from './spending.js';
import { BudgetTree, type BudgetTreeOptions, type OpenHow } from './tree.js';
import { type BudgetLimits, hasLimit } from './units.js';

export interface SessionBudgetParts
  extends BudgetTreeOptions,
    Omit<SpendingParts, 'clock' | 'spentUsd' | 'note'> {
  readonly ledger: UsageLedger;
  /** Wraps a text of the program for a model. */
  readonly message: (text: string) => InputMessage;
}

/** The budgets of a session: of the main agent and all its descendants. */
export interface SessionBudget {
  readonly main: AgentSpending;
  /** Opens the budget of a new or resumed agent. An error names the budget that does not allow it. */
  open(ref: AgentRef, limits: BudgetLimits, how?: OpenHow): Result<AgentSpending, string>;
  /** Whether the session as a whole is limited. */
  readonly isLimited: boolean;
  /** Adds the usage of earlier processes; called once, before one of their agents is resumed. */
  recall(uses: readonly AgentUsage[]): void;
  /** What every agent used, excluding its descendants; the rows add up to the total. */
  rows(): readonly AccountRow[];
  /** What one agent used, excluding its descendants, and what it has left. */
  spent(path: string): AgentSpent;
}

/** The most agents whose id and type are remembered for rows. */
const MOST_KNOWN = 1_000;

export function createSessionBudget(parts: SessionBudgetParts): SessionBudget {
  const { ledger, message, ...rest } = parts;
  const tree = new BudgetTree(rest);
  const spending: SpendingParts = {
    note: message,
    spentUsd: () => ledger.sinceStart().costUsd,
    ...rest,
  };
  const known = new Map<string, AgentRef>([[MAIN_AGENT.path, MAIN_AGENT]]);
  return {
    main: createSpending(tree.main, spending, { isChild: false }),
    open(ref, limits, how) {
      const account = tree.open(ref, limits, how);
      if (!account.ok) return err(account.error);
      // Agents beyond the cap appear in rows without id and type.
      if (known.size < MOST_KNOWN) known.set(ref.path, ref);
      return ok(createSpending(account.value, spending, { isChild: true }));
    },
    isLimited: hasLimit(parts.limits),
    recall: (uses) => tree.recall((path) => priorUsageOf(uses, path, parts.price)),
    spent(path) {
      const totals = ledger.of(path);
      return {
        tokens:
          totals.inputTokens +
          totals.outputTokens +
          totals.cacheReadInputTokens +
          totals.cacheCreationInputTokens,
        costUsd: totals.unpricedRequests > 0 ? null : totals.costUsd,
        left: tree.left(path),
        reserved: tree.reserved(path),
      };
    },
    rows: () => accountRows(ledger, (path) => known.get(path)),
  };
}
