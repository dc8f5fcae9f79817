import type { StopReason } from '../loop/types.js';

/** What an agent and its descendants may use; an absent unit has no limit. */
export interface BudgetLimits {
  /** Model calls. */
  readonly turns?: number | undefined;
  /** All tokens, including those read from a cache. */
  readonly tokens?: number | undefined;
  /** Dollars; models without a known price are refused. */
  readonly usd?: number | undefined;
  readonly seconds?: number | undefined;
  /** Agents that may be started in all. */
  readonly fanOut?: number | undefined;
}

export type BudgetUnit = keyof BudgetLimits;

/** What a model call uses up. */
export const CALL_UNITS = ['turns', 'tokens', 'nanoUsd'] as const;
export type CallUnit = (typeof CALL_UNITS)[number];

/** Whole numbers, so that adding and subtracting leaves no rounding error. */
export type Amounts = Readonly<Record<CallUnit, number>>;

export const NOTHING: Amounts = { turns: 0, tokens: 0, nanoUsd: 0 };

const NANOS = 1_000_000_000;

/** fail-closed: usage is rounded up. */
export function nanosOf(usd: number): number {
  return Math.ceil(usd * NANOS - ROUNDING);
}

/** The rounding error of a floating point product, in billionths of a dollar. */
const ROUNDING = 1e-6;

/** The limits in the units of a call. fail-closed: limits are rounded down. */
export function callLimits(limits: BudgetLimits): Partial<Amounts> {
  return {
    turns: limits.turns === undefined ? undefined : Math.floor(limits.turns),
    tokens: limits.tokens === undefined ? undefined : Math.floor(limits.tokens),
    nanoUsd: limits.usd === undefined ? undefined : Math.floor(limits.usd * NANOS + ROUNDING),
  };
}

export function plus(a: Amounts, b: Amounts): Amounts {
  return combine(a, b, (one, other) => one + other);
}

export function minus(a: Amounts, b: Amounts): Amounts {
  return combine(a, b, (one, other) => one - other);
}

export function lesser(a: Amounts, b: Amounts): Amounts {
  return combine(a, b, Math.min);
}

function combine(a: Amounts, b: Amounts, by: (one: number, other: number) => number): Amounts {
  return {
    turns: by(a.turns, b.turns),
    tokens: by(a.tokens, b.tokens),
    nanoUsd: by(a.nanoUsd, b.nanoUsd),
  };
}

/** The stricter of two limits, unit by unit. */
export function strictest(a: BudgetLimits, b: BudgetLimits): BudgetLimits {
  const limits: { -readonly [Unit in BudgetUnit]?: number } = {};
  for (const unit of BUDGET_UNITS) {
    const both = [a[unit], b[unit]].filter((limit) => limit !== undefined);
    if (both.length > 0) limits[unit] = Math.min(...both);
  }
  return limits;
}

export const BUDGET_UNITS: readonly BudgetUnit[] = ['turns', 'tokens', 'usd', 'seconds', 'fanOut'];

export function hasLimit(limits: BudgetLimits): boolean {
  return BUDGET_UNITS.some((unit) => limits[unit] !== undefined);
}

/** Why a budget refuses something. */
export interface Shortage {
  readonly unit: BudgetUnit;
  readonly limit: number;
  /** Neither used nor reserved. */
  readonly left: number;
  /** The owner of the budget. */
  readonly path: string;
  /** The model without a known price, because of which dollars cannot be counted. */
  readonly unpriced?: string;
}

/** Formats an amount, like `1,900 tokens`. */
export function quantity(unit: BudgetUnit, value: number): string {
  if (unit === 'usd') return `$${value.toFixed(6).replace(/0{1,4}$/, '')}`;
  const number = (unit === 'seconds' ? Math.ceil(value) : value).toLocaleString('en-US');
  if (unit === 'fanOut') return `${number} ${value === 1 ? 'agent' : 'agents'}`;
  return `${number} ${value === 1 ? unit.slice(0, -1) : unit}`;
}

/** One clause that names the budget and why it does not suffice. */
export function shortageWords({ unit, limit, left, path, unpriced }: Shortage): string {
  const whose = path === 'main' ? 'the session' : path;
  const budget = `the budget of ${quantity(unit, limit)} of ${whose}`;
  if (unpriced !== undefined)
    return `${budget} cannot be kept: the price of ${unpriced} is not known`;
  return left <= 0
    ? `${budget} is used up`
    : `${budget} does not go further: ${quantity(unit, left)} left`;
}

export function usdOf(nanos: number): number {
  return nanos / NANOS;
}

export interface LimitOptions {
  readonly maxTurns: number | undefined;
  readonly maxBudgetUsd: number | undefined;
  /** Dollars spent by the whole session, as far as prices are known. */
  spentUsd(): number;
  /** Calls without a known price: a server may answer with another model than the requested one. */
  unpricedCalls(): number;
  /** Set when the model keeps failing in the same way. */
  stuck(): string | undefined;
}

/** Limits that can end a run before the model does, checked before every model call. */
export function createLimits(
  options: LimitOptions,
): (turnsTaken: number) => StopReason | undefined {
  return (turnsTaken) => {
    const stuck = options.stuck();
    if (stuck !== undefined) return { kind: 'stuck', message: stuck };
    if (options.maxTurns !== undefined && turnsTaken >= options.maxTurns) {
      return { kind: 'max_turns', limit: options.maxTurns };
    }
    const limitUsd = options.maxBudgetUsd;
    if (limitUsd === undefined) return undefined;
    const spentUsd = options.spentUsd();
    // fail-closed: a budget that cannot be counted is used up.
    const used = spentUsd >= limitUsd || options.unpricedCalls() > 0;
    return used ? { kind: 'budget', limitUsd, spentUsd } : undefined;
  };
}
