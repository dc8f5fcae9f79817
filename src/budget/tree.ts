import { err, ok, type Result } from '../lib/result.js';
import type { Clock } from '../platform/clock.js';
import type { AgentRef } from '../protocol/agent-ref.js';
import { BudgetAccount } from './account.js';
import type { PriorUsage } from './earlier.js';
import { BudgetNode } from './node.js';
import {
  type BudgetLimits,
  hasLimit,
  type Shortage,
  shortageWords,
  strictest,
  usdOf,
} from './units.js';

export interface BudgetTreeOptions {
  /** Limits of the whole session. */
  readonly limits: BudgetLimits;
  /** Limits of all subagents together, which do not hold for the main agent itself. */
  readonly below?: BudgetLimits;
  readonly clock: Pick<Clock, 'monotonic'>;
}

export interface OpenHow {
  /** The agent is resumed. */
  readonly again: boolean;
  /** For a resumed agent: the limits of its ancestors except the main agent, the highest first. */
  readonly above?: readonly BudgetLimits[];
}

type BudgetRef = Pick<AgentRef, 'id' | 'path'>;

/**
 * The budgets of a session: every agent draws on its own budget and on those of all its ancestors,
 * so none has more than what they have left.
 */
export class BudgetTree {
  readonly main: BudgetAccount;
  readonly #now: () => number;
  readonly #root: BudgetNode;
  /** By path: the budgets an agent draws on, its own last. */
  readonly #chains = new Map<string, readonly BudgetNode[]>();
  readonly #waiting = new Set<() => void>();
  #pastAt: ((path: string) => PriorUsage) | undefined;

  constructor({ limits, below = {}, clock }: BudgetTreeOptions) {
    this.#now = clock.monotonic;
    const root = new BudgetNode({ id: 'main', path: 'main', limits, below, now: this.#now });
    const chain = hasLimit(limits) || hasLimit(below) ? [root] : [];
    this.#root = root;
    this.#chains.set(root.path, chain);
    this.main = this.#account(root.path, root, chain);
  }

  /** Opens the account of a new or resumed agent; an error says why there can be none. */
  open(
    ref: BudgetRef,
    limits: BudgetLimits,
    { again: isResumed, above: limitsAbove = [] }: OpenHow = { again: false },
  ): Result<BudgetAccount, string> {
    const { path } = ref;
    if (isResumed) this.#raise(path, limitsAbove);
    const above = this.#chainAbove(path);
    const known = this.#chains.get(path)?.at(-1);
    // A resumed agent was already counted when it started.
    const again = known?.id === ref.id ? known : isResumed ? this.#node(ref, limits) : undefined;
    const refusal = again === undefined ? noStart(above) : usedUp([...above, again]);
    if (refusal !== undefined) return err(shortageWords(refusal));
    if (again === undefined) for (const node of above) node.started++;
    const isLimited = hasLimit(limits);
    const node = again ?? (isLimited ? this.#node(ref, limits) : undefined);
    const chain = isLimited && node !== undefined ? [...above, node] : above;
    this.#chains.set(path, chain);
    let isOpen = true;
    const account = this.#account(path, node, chain, () => {
      if (!isOpen) return;
      isOpen = false;
      account.leave();
      // Usage stays for a resumed agent; without limits there is none to keep.
      if (!isLimited && this.#chains.get(path) === chain) this.#chains.delete(path);
      this.#wake();
    });
    account.enter();
    return ok(account);
  }

  /** Adds the usage of earlier processes, at a path and below; called once, before one of their agents is resumed. */
  recall(past: (path: string) => PriorUsage): void {
    this.#pastAt = past;
    this.#root.recall(past(this.#root.path));
  }

  /** What the tightest budget in an agent's chain still allows, in each limited unit. */
  left(path: string): BudgetLimits {
    const chain = this.#chains.get(path) ?? this.#chainAbove(path);
    return chain.map((node) => node.left(path)).reduce(strictest, {});
  }

  /** What running calls reserve in the nearest budget; undefined when there is no budget. */
  reserved(path: string): { readonly tokens: number; readonly usd: number } | undefined {
    const reserved = (this.#chains.get(path) ?? this.#chainAbove(path)).at(-1)?.reserved;
    return reserved && { tokens: reserved.tokens, usd: usdOf(reserved.nanoUsd) };
  }

  #account(
    path: string,
    own: BudgetNode | undefined,
    chain: readonly BudgetNode[],
    closed?: () => void,
  ): BudgetAccount {
    const waiting = this.#waiting;
    return new BudgetAccount({ path, own, chain, waiting, wake: () => this.#wake(), closed });
  }

  #wake(): void {
    for (const one of [...this.#waiting]) one();
  }

  #node({ id, path }: BudgetRef, limits: BudgetLimits): BudgetNode {
    const node = new BudgetNode({ id, path, limits, now: this.#now });
    if (hasLimit(limits) && this.#pastAt !== undefined) node.recall(this.#pastAt(path));
    return node;
  }

  /** Restores the budgets of agents of earlier processes, which limit their descendants. */
  #raise(path: string, above: readonly BudgetLimits[]): void {
    for (const [index, limits] of above.entries()) {
      const at = path.split('/', index + 2).join('/');
      if (!hasLimit(limits) || this.#chains.has(at)) continue;
      this.#chains.set(at, [...this.#chainAbove(at), this.#node({ id: at, path: at }, limits)]);
    }
  }

  /** The budgets of the nearest known ancestor. */
  #chainAbove(path: string): readonly BudgetNode[] {
    for (let at = path.lastIndexOf('/'); at > 0; at = path.lastIndexOf('/', at - 1)) {
      const chain = this.#chains.get(path.slice(0, at));
      if (chain !== undefined) return chain;
    }
    // fail-closed: an agent without a known ancestor draws on the session's budget.
    return this.#chains.get('main') ?? [];
  }
}

function noStart(above: readonly BudgetNode[]): Shortage | undefined {
  for (const node of above) {
    const { fanOut } = node.limitsFor(undefined);
    if (fanOut !== undefined && node.started + 1 > fanOut) {
      return { unit: 'fanOut', limit: fanOut, left: fanOut - node.started, path: node.path };
    }
  }
  return usedUp(above);
}

function usedUp(chain: readonly BudgetNode[]): Shortage | undefined {
  for (const node of chain) {
    const shortage = node.usedUp();
    if (shortage !== undefined) return shortage;
  }
  return undefined;
}
