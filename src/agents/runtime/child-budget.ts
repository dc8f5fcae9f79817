import type { SessionBudget } from '../../budget/session-budget.js';
import { ok } from '../../lib/result.js';
import type { Agent } from '../core/agent.js';
import type { AgentHost } from './agent-host.js';

/** The main agent, whose time counts while it runs. */
export function heldTo(budget: SessionBudget | undefined, agent: Agent): Agent {
  if (budget === undefined) return agent;
  return {
    ...agent,
    run: (start, signal) => budget.main.runAgent(() => agent.run(start, signal)),
  };
}

/** The budget of each agent, under those of everybody above it. */
export function childBudgets(budget: SessionBudget): NonNullable<AgentHost['budgetFor']> {
  return (ref, definition, how) => {
    const opened = budget.open(ref, definition.budget, how);
    if (!opened.ok) return opened;
    const { signal: over } = opened.value;
    if (over === undefined) return opened;
    return ok({ ...opened.value, until: (signal) => AbortSignal.any([signal, over]) });
  };
}
