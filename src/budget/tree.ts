import type { Clock } from '../env/clock.js';
import type { AgentRef } from '../protocol/agent-ref.js';
import { err, ok, type Result } from '../util/result.js';
import { type BudgetAccount, createAccount } from './account.js';
import { createNode, limitsFor, type Node } from './node.js';
import { type BudgetLimits, hasLimit, type Shortage, shortageWords } from './units.js';

export interface BudgetTreeOptions {
  /** Of the whole session. */
  readonly limits: BudgetLimits;
  /** Of the whole session, but nothing that the main agent is held to itself. */
  readonly below?: BudgetLimits;
  readonly clock: Pick<Clock, 'monotonic'>;
}

/**
 * Who may use how much. Every agent draws on its own budget and on those of all above it, so that
 * nobody has more than what is left of its ancestors'.
 */
export interface BudgetTree {
  readonly main: BudgetAccount;
  /** For a new agent, or one that is gone on with. An error says why there can be none. */
  open(ref: Pick<AgentRef, 'id' | 'path'>, limits: BudgetLimits): Result<BudgetAccount, string>;
  /** Budgets that are remembered, for tests. */
  size(): number;
}

export function createBudgetTree({ limits, below = {}, clock }: BudgetTreeOptions): BudgetTree {
  const now = clock.monotonic;
  const root = createNode({ id: 'main', path: 'main', limits, below, now });
  /** By path: what an agent there draws on, its own budget last. */
  const chains = new Map<string, readonly Node[]>();
  const waiting = new Set<() => void>();
  const wake = (): void => {
    for (const one of [...waiting]) one();
  };
  const rootChain = hasLimit(limits) || hasLimit(below) ? [root] : [];
  chains.set(root.path, rootChain);
  const main = createAccount({ own: root, chain: rootChain, waiting, wake });
  return {
    main,
    open(ref, own) {
      const above = chainAbove(chains, ref.path);
      const known = chains.get(ref.path)?.at(-1);
      const again = known?.id === ref.id ? known : undefined;
      const refusal = again === undefined ? noStart(above) : usedUp([...above, again]);
      if (refusal !== undefined) return err(shortageWords(refusal));
      if (again === undefined) for (const node of above) node.started++;
      const node = again ?? createNode({ ...ref, limits: own, below: {}, now });
      const chain = hasLimit(own) ? [...above, node] : above;
      chains.set(ref.path, chain);
      const account = createAccount({ own: node, chain, waiting, wake });
      account.enter();
      let isOpen = true;
      return ok({
        ...account,
        close() {
          if (!isOpen) return;
          isOpen = false;
          account.close();
          account.leave();
          // What was used stays used when the agent is gone on with; without limits nobody asks.
          if (!hasLimit(own) && chains.get(ref.path) === chain) chains.delete(ref.path);
          wake();
        },
      });
    },
    size: () => chains.size,
  };
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

function usedUp(chain: readonly Node[]): Shortage | undefined {
  for (const node of chain) {
    const shortage = node.usedUp();
    if (shortage !== undefined) return shortage;
  }
  return undefined;
}
