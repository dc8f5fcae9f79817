import type { Past } from './earlier.js';
import {
  type Amounts,
  BUDGET_UNITS,
  type BudgetLimits,
  type BudgetUnit,
  CALL_UNITS,
  type CallUnit,
  callLimits,
  hasLimit,
  NOTHING,
  plus,
  type Shortage,
  strictest,
  usdOf,
} from './units.js';

/** One budget: what it allows and what has become of it. */
export interface Node {
  readonly id: string;
  readonly path: string;
  readonly limits: BudgetLimits;
  /** Holds for everybody below, but not for the owner. */
  below: BudgetLimits;
  spent: Amounts;
  /** By calls that are under way. */
  reserved: Amounts;
  /** For the last turn of each living agent. */
  kept: Amounts;
  /** The model of a call whose price is not known. */
  unpriced: string | undefined;
  /** Agents started below it. */
  started: number;
  /** Seconds in which somebody who draws on it was at work. */
  seconds(): number;
  /** Somebody begins to work. */
  enter(): void;
  leave(): void;
  /** What was used up before this process counts too. */
  recall(past: Past): void;
  /** Set when nobody below it can do anything more. */
  usedUp(): Shortage | undefined;
}

export function createNode(parts: {
  readonly id: string;
  readonly path: string;
  readonly limits: BudgetLimits;
  readonly below: BudgetLimits;
  now(): number;
}): Node {
  const { id, path, limits, below, now } = parts;
  let elapsed = 0;
  let since = 0;
  let working = 0;
  const seconds = (): number => (elapsed + (working === 0 ? 0 : now() - since)) / 1000;
  const node: Node = {
    id,
    path,
    limits,
    below,
    spent: NOTHING,
    reserved: NOTHING,
    kept: NOTHING,
    unpriced: undefined,
    started: 0,
    seconds,
    enter() {
      if (working++ === 0) since = now();
    },
    leave() {
      if (working === 1) elapsed += now() - since;
      working = Math.max(0, working - 1);
    },
    recall(past) {
      node.spent = plus(node.spent, past.spent);
      node.unpriced ??= past.unpriced;
      node.started += past.started;
      elapsed += past.seconds * 1000;
      // That one is about this process alone.
      const { usd } = node.below;
      if (usd !== undefined) node.below = { ...node.below, usd: usd + usdOf(past.spent.nanoUsd) };
    },
    usedUp: () =>
      shortage(node, undefined, { call: NOTHING, keep: NOTHING, own: NOTHING }, 'least'),
  };
  return node;
}

/** What holds for one that draws on the node: its owner, or somebody below it. */
export function limitsFor(node: Node, owner: Node | undefined): BudgetLimits {
  return node === owner || !hasLimit(node.below) ? node.limits : strictest(node.limits, node.below);
}

/** What a budget still allows the agent of this path, in each unit that is limited. */
export function leftIn(node: Node, path: string): BudgetLimits {
  const limits = limitsFor(node, node.path === path ? node : undefined);
  const { spent, started, unpriced } = node;
  const used = { ...spent, seconds: node.seconds(), fanOut: started, usd: usdOf(spent.nanoUsd) };
  const left: Partial<Record<BudgetUnit, number>> = {};
  for (const unit of BUDGET_UNITS) {
    const limit = limits[unit];
    if (limit === undefined) continue;
    // fail-closed: a budget of dollars that cannot be counted is used up.
    const isOver = unit === 'usd' && unpriced !== undefined;
    left[unit] = isOver ? 0 : Math.max(0, limit - used[unit]);
  }
  return left;
}

/** A wish for a model call. */
export interface Draw {
  readonly call: Amounts;
  /** To be kept for the last turn. */
  readonly keep: Amounts;
  /** What the same agent has kept so far. */
  readonly own: Amounts;
  /** A model without a known price is to be called. */
  readonly unpriced?: string | undefined;
}

/**
 * Why it does not fit. `now`: beside the calls that are under way. `ever`: if none of them used
 * anything. `least`: whether anything at all would fit.
 */
export function shortage(
  node: Node,
  owner: Node | undefined,
  draw: Draw,
  when: 'now' | 'ever' | 'least',
): Shortage | undefined {
  const limits = limitsFor(node, owner);
  if (limits.usd !== undefined) {
    // fail-closed: a budget that cannot be counted is used up.
    const unpriced = draw.unpriced ?? node.unpriced;
    if (unpriced !== undefined) {
      return { unit: 'usd', limit: limits.usd, left: 0, path: node.path, unpriced };
    }
  }
  if (limits.seconds !== undefined) {
    const left = limits.seconds - node.seconds();
    if (left <= 0) return { unit: 'seconds', limit: limits.seconds, left, path: node.path };
  }
  const most = callLimits(limits);
  for (const unit of CALL_UNITS) {
    const limit = most[unit];
    if (limit === undefined) continue;
    const busy = when === 'now' ? node.reserved[unit] : 0;
    const left = limit - node.spent[unit] - node.kept[unit] + draw.own[unit] - busy;
    const wanted = when === 'least' ? 1 : draw.call[unit] + draw.keep[unit];
    if (wanted > left) return { ...inWords(unit, { limit, left }), path: node.path };
  }
  return undefined;
}

function inWords(
  unit: CallUnit,
  { limit, left }: { limit: number; left: number },
): { unit: BudgetUnit; limit: number; left: number } {
  return unit === 'nanoUsd'
    ? { unit: 'usd', limit: usdOf(limit), left: usdOf(left) }
    : { unit, limit, left };
}
