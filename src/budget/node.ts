import type { PriorUsage } from './earlier.js';
import {
  type Amounts,
  BUDGET_UNITS,
  type BudgetLimits,
  type BudgetUnit,
  CALL_UNITS,
  callLimits,
  NOTHING,
  plus,
  type Shortage,
  strictest,
  usdOf,
} from './units.js';

export interface Charge {
  readonly call: Amounts;
  /** To be kept for the last turn. */
  readonly keep: Amounts;
  /** What the same agent has kept so far. */
  readonly own: Amounts;
  /** The model of the call when its price is not known. */
  readonly unpriced?: string | undefined;
}

/** One budget: its limits and the usage counted against them. */
export class BudgetNode {
  readonly id: string;
  readonly path: string;
  readonly limits: BudgetLimits;
  spent: Amounts = NOTHING;
  /** Reserved by running calls. */
  reserved: Amounts = NOTHING;
  /** Kept for the last turn of each living agent. */
  kept: Amounts = NOTHING;
  /** The model of a call whose price is not known. */
  unpriced: string | undefined;
  /** Agents started below it. */
  started = 0;
  /** Limits for all descendants, but not for the owner. */
  #below: BudgetLimits;
  readonly #now: () => number;
  #elapsed = 0;
  #since = 0;
  #working = 0;

  constructor(parts: {
    readonly id: string;
    readonly path: string;
    readonly limits: BudgetLimits;
    readonly below?: BudgetLimits;
    now(): number;
  }) {
    this.id = parts.id;
    this.path = parts.path;
    this.limits = parts.limits;
    this.#below = parts.below ?? {};
    this.#now = parts.now;
  }

  /** Seconds in which an agent drawing on this budget was working. */
  get seconds(): number {
    return (this.#elapsed + (this.#working === 0 ? 0 : this.#now() - this.#since)) / 1000;
  }

  enter(): void {
    if (this.#working++ === 0) this.#since = this.#now();
  }

  leave(): void {
    if (this.#working === 1) this.#elapsed += this.#now() - this.#since;
    this.#working = Math.max(0, this.#working - 1);
  }

  /** Adds the usage of earlier processes. */
  recall(past: PriorUsage): void {
    this.spent = plus(this.spent, past.spent);
    this.unpriced ??= past.unpriced;
    this.started += past.started;
    this.#elapsed += past.seconds * 1000;
    // This limit covers the current process only, so earlier spending is added to it.
    const { usd } = this.#below;
    if (usd !== undefined) this.#below = { ...this.#below, usd: usd + usdOf(past.spent.nanoUsd) };
  }

  /** The limits for an agent that draws on this budget: the owner, or a descendant. */
  limitsFor(owner: BudgetNode | undefined): BudgetLimits {
    return this === owner ? this.limits : strictest(this.limits, this.#below);
  }

  /** What remains for the agent at this path, in each limited unit. */
  left(path: string): BudgetLimits {
    const limits = this.limitsFor(this.path === path ? this : undefined);
    const { spent, started, seconds } = this;
    const used = { ...spent, seconds, fanOut: started, usd: usdOf(spent.nanoUsd) };
    const left: Partial<Record<BudgetUnit, number>> = {};
    for (const unit of BUDGET_UNITS) {
      const limit = limits[unit];
      if (limit === undefined) continue;
      // fail-closed: a budget in dollars that cannot be counted is used up.
      const isOver = unit === 'usd' && this.unpriced !== undefined;
      left[unit] = isOver ? 0 : Math.max(0, limit - used[unit]);
    }
    return left;
  }

  /** The shortage that stops every descendant; undefined while something is left. */
  usedUp(): Shortage | undefined {
    return this.shortage(undefined, { call: NOTHING, keep: NOTHING, own: NOTHING }, 'least');
  }

  /**
   * Why a call does not fit. `now`: beside the running calls. `ever`: even if those used nothing.
   * `least`: whether anything at all would fit.
   */
  shortage(
    owner: BudgetNode | undefined,
    charge: Charge,
    when: 'now' | 'ever' | 'least',
  ): Shortage | undefined {
    const limits = this.limitsFor(owner);
    const { path } = this;
    // fail-closed: a budget that cannot be counted is used up.
    const unpriced = charge.unpriced ?? this.unpriced;
    if (limits.usd !== undefined && unpriced !== undefined) {
      return { unit: 'usd', limit: limits.usd, left: 0, path, unpriced };
    }
    if (limits.seconds !== undefined) {
      const left = limits.seconds - this.seconds;
      if (left <= 0) return { unit: 'seconds', limit: limits.seconds, left, path };
    }
    const most = callLimits(limits);
    for (const unit of CALL_UNITS) {
      const limit = most[unit];
      if (limit === undefined) continue;
      const busy = when === 'now' ? this.reserved[unit] : 0;
      const left = limit - this.spent[unit] - this.kept[unit] + charge.own[unit] - busy;
      const wanted = when === 'least' ? 1 : charge.call[unit] + charge.keep[unit];
      if (wanted <= left) continue;
      return unit === 'nanoUsd'
        ? { unit: 'usd', limit: usdOf(limit), left: usdOf(left), path }
        : { unit, limit, left, path };
    }
    return undefined;
  }
}
