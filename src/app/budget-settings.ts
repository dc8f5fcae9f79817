import { BUDGET_UNITS, type BudgetLimits, strictest } from '../budget/units.js';
import type { SettingValues } from '../settings/types.js';

/** `portcullis.budget`. Whoever sets one may lower what others allow, nobody raises it. */
export function budgetOf(values: Pick<SettingValues, 'said'>): BudgetLimits {
  let limits: BudgetLimits = {};
  for (const unit of BUDGET_UNITS) {
    for (const { value } of values.said(`portcullis.budget.${unit}`)) {
      if (typeof value === 'number') limits = strictest(limits, { [unit]: value });
    }
  }
  return limits;
}
