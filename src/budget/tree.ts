import { err, ok, type Result } from '../lib/result.js';
import type { Clock } from '../platform/clock.js';
import type { AgentRef } from '../protocol/agent-ref.js';
import { type BudgetAccount, createAccount } from './account.js';
import type { Past } from './earlier.js';
import { createNode, leftIn, limitsFor, type Node } from './node.js';
import { type BudgetLimits, hasLimit, type Shortage, shortageWords, strictest } from './units.js';

export interface BudgetTreeOptions {
  /** Of the whole session. */
  readonly limits: BudgetLimits;
  /** Of the whole session, but nothing that the main agent is held to itself. */
  readonly below?: BudgetLimits;
  readonly clock: Pick<Clock, 'monotonic'>;
}

/** How an agent is opened. */
export interface OpenHow {
  /** It goes on. */
  readonly again: boolean;
  /** Of one that goes on: the limits of those above it, the main agent left out, the highest first. */
  readonly above?: readonly BudgetLimits[];
}

/**
 * Who may use how much. Every agent draws on its own budget and on those of all above it, so that
 * nobody has more than what is left of its ancestors'.
 */
export interface BudgetTree {
  readonly main: BudgetAccount;
  /** For a new agent, or one that goes on (`again`). An error says why there can be none. */
  open(
    ref: Pick<AgentRef, 'id' | 'path'>,
    limits: BudgetLimits,
    how?: OpenHow,
  ): Result<BudgetAccount, string>;
  /** What was used up in earlier processes, at a path and below. Said once, before an agent of those goes on. */
  recall(past: (path: string) => Past): void;
  /** What the tightest budget that an agent draws on still allows, in each unit that is limited. */
  left(path: string): BudgetLimits;
  /** Budgets that are remembered, for tests. */
  size(): number;
}

/** Budgets of agents that have ended, which are remembered in case that these go on. */
export const MOST_ENDED_BUDGETS = 4_096;

export function createBudgetTree({ limits, below = {}, clock }: BudgetTreeOptions): BudgetTree {
  const now = clock.monotonic;
  const root = createNode({ id: 'main', path: 'main', limits, below, now });
  /** By path: what an agent there draws on, its own budget last. */
  const chains = new Map<string, readonly Node[]>();
  /** Paths of agents that have ended and whose budgets are remembered, the oldest first. */
  const ended = new Set<string>();
  let hasForgotten = false;
  let pastAt: ((path: string) => Past) | undefined;
  const nodeOf = ({ id, path }: Pick<AgentRef, 'id' | 'path'>, own: BudgetLimits): Node => {
    const node = createNode({ id, path, limits: own, below: {}, now });
    if (hasLimit(own) && pastAt !== undefined) node.recall(pastAt(path));
    return node;
  };
  /** Budgets of agents of earlier processes hold for those below them. */
  const raise = (path: string, above: readonly BudgetLimits[]): void => {
    for (const [index, own] of above.entries()) {
      const at = path.split('/', index + 2).join('/');
      if (!hasLimit(own) || chains.has(at)) continue;
      chains.set(at, [...chainAbove(chains, at), nodeOf({ id: at, path: at }, own)]);
      ended.add(at);
    }
  };
  const forgetOldest = (): void => {
    for (const path of ended) {
      if (ended.size <= MOST_ENDED_BUDGETS) return;
      ended.delete(path);
      chains.delete(path);
      hasForgotten = true;
    }
  };
  const waiting = new Set<() => void>();
  const wake = (): void => {
    if (waiting.size > 0) for (const one of [...waiting]) one();
  };
  const rootChain = hasLimit(limits) || hasLimit(below) ? [root] : [];
  chains.set(root.path, rootChain);
  const main = createAccount({ path: root.path, own: root, chain: rootChain, waiting, wake });
  return {
    main,
    open(ref, own, { again: goesOn, above: limitsAbove = [] } = { again: false }) {
      // fail-closed: what it, or one above it, has used up is not known, and must not count as nothing.
      if (goesOn && hasForgotten && mayBeForgotten(chains, ref.path, own)) {
        return err(`what was used up at ${ref.path} is not known any more`);
      }
      if (goesOn) raise(ref.path, limitsAbove);
      const above = chainAbove(chains, ref.path);
      const known = chains.get(ref.path)?.at(-1);
      const mine = known?.id === ref.id ? known : undefined;
      // It has been counted as one that was started.
      const again = mine ?? (goesOn ? nodeOf(ref, own) : undefined);
      const refusal = again === undefined ? noStart(above) : usedUp([...above, again]);
      if (refusal !== undefined) return err(shortageWords(refusal));
      if (again === undefined) for (const node of above) node.started++;
      const isLimited = hasLimit(own);
      // Nobody draws on one without limits.
      const node = again ?? (isLimited ? nodeOf(ref, own) : undefined);
      const chain = isLimited && node !== undefined ? [...above, node] : above;
      chains.set(ref.path, chain);
      ended.delete(ref.path);
      let isOpen = true;
      const closed = (): void => {
        if (!isOpen) return;
        isOpen = false;
        account.leave();
        // What was used stays used when the agent is gone on with; without limits nobody asks.
        if (chains.get(ref.path) === chain) {
          if (isLimited) ended.add(ref.path);
          else chains.delete(ref.path);
        }
        if (ended.size > MOST_ENDED_BUDGETS) forgetOldest();
        wake();
      };
      const account = createAccount({ path: ref.path, own: node, chain, waiting, wake, closed });
      account.enter();
      return ok(account);
    },
    recall(past) {
      pastAt = past;
      root.recall(past(root.path));
    },
    left: (path) => leftOf(chains.get(path) ?? chainAbove(chains, path), path),
    size: () => chains.size,
  };
}

/** Whether a budget that this agent draws on may be among those that are not remembered. */
function mayBeForgotten(
  chains: ReadonlyMap<string, readonly Node[]>,
  path: string,
  own: BudgetLimits,
): boolean {
  const steps = path.split('/');
  const above = steps.slice(1).map((_, index) => steps.slice(0, index + 1).join('/'));
  const drawn = hasLimit(own) ? [...above, path] : above;
  return drawn.some((one) => !chains.has(one));
}

/** What the nearest known ancestor draws on. Agents without limits are forgotten once they end. */
function chainAbove(chains: ReadonlyMap<string, readonly Node[]>, path: string): readonly Node[] {
  for (let at = path.lastIndexOf('/'); at > 0; at = path.lastIndexOf('/', at - 1)) {
    const chain = chains.get(path.slice(0, at));
    if (chain !== undefined) return chain;
  }
  // fail-closed: whoever it is, the session's budget holds.
  return chains.get('main') ?? [];
}

function noStart(above: readonly Node[]): Shortage | undefined {
  for (const node of above) {
    const { fanOut } = limitsFor(node, undefined);
    if (fanOut !== undefined && node.started + 1 > fanOut) {
      return { unit: 'fanOut', limit: fanOut, left: fanOut - node.started, path: node.path };
    }
  }
  return usedUp(above);
}

function leftOf(chain: readonly Node[], path: string): BudgetLimits {
  return chain.map((node) => leftIn(node, path)).reduce(strictest, {});
}

function usedUp(chain: readonly Node[]): Shortage | undefined {
  for (const node of chain) {
    const shortage = node.usedUp();
    if (shortage !== undefined) return shortage;
  }
  return undefined;
}
