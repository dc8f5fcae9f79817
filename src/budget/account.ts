import { orAbort } from '../lib/abort.js';
import { err, ok, type Result } from '../lib/result.js';
import type { BudgetNode, Charge } from './node.js';
import { type Amounts, lesser, minus, NOTHING, plus, type Shortage } from './units.js';

/** A request for a model call, and what must be left for the last turn after it. */
export type BudgetRequest = Omit<Charge, 'own'>;

/** An amount set aside for one call, replaced by its real usage as that is booked. */
export interface Reservation {
  /** The index of the granted request. */
  readonly index: number;
  /** What the call may use. */
  readonly call: Amounts;
  /** Books real usage, adding up over calls. `unpriced` names a model without a known price. */
  book(used: Amounts, unpriced?: string): void;
  /** Ends the call and frees what it did not use, except `keep`, which stays set aside for the last turn. */
  end(keep: Amounts): void;
}

interface AccountParts {
  readonly path: string;
  /** The agent's own budget; undefined when it has no limits of its own. */
  readonly own: BudgetNode | undefined;
  /** Every budget that the agent draws on, from the root down. */
  readonly chain: readonly BudgetNode[];
  readonly waiting: Set<() => void>;
  wake(): void;
  closed?(): void;
}

/** The budgets that one agent draws on. */
export class BudgetAccount {
  readonly #parts: AccountParts;
  #kept: Amounts = NOTHING;

  constructor(parts: AccountParts) {
    this.#parts = parts;
  }

  get path(): string {
    return this.#parts.path;
  }

  /** False when no budget up to the root has a limit. */
  get isLimited(): boolean {
    return this.#parts.chain.length > 0;
  }

  /**
   * Reserves the first request that fits into every budget up to the root. Waits while one could fit after
   * running calls end; returns an error when none can, or `undefined` as the error when `signal` aborts.
   */
  async reserve(
    requests: readonly BudgetRequest[],
    signal: AbortSignal,
  ): Promise<Result<Reservation, Shortage | undefined>> {
    for (;;) {
      if (signal.aborted) return err(undefined);
      const index = requests.findIndex((request) => this.#shortage(request, 'now') === undefined);
      const fits = requests[index];
      if (fits !== undefined) return ok(this.#grant(fits, index));
      const last = requests.at(-1);
      const never = last === undefined ? undefined : this.#shortage(last, 'ever');
      if (never !== undefined || last === undefined) return err(never);
      await nextChange(this.#parts.waiting, signal);
    }
  }

  /** Why this request can never be granted, even if the running calls used nothing. */
  shortOf(request: BudgetRequest): Shortage | undefined {
    return this.#shortage(request, 'ever');
  }

  /** The time budget that ends first. */
  time(): { readonly limit: number; readonly left: number; readonly path: string } | undefined {
    const { chain, own } = this.#parts;
    let first: { limit: number; left: number; path: string } | undefined;
    for (const node of chain) {
      const { seconds: limit } = node.limitsFor(own);
      if (limit === undefined) continue;
      const left = limit - node.seconds;
      if (first === undefined || left < first.left) first = { limit, left, path: node.path };
    }
    return first;
  }

  /** Starts the clock of every budget in the chain: the agent works. */
  enter(): void {
    for (const node of this.#parts.chain) node.enter();
  }

  leave(): void {
    for (const node of this.#parts.chain) node.leave();
  }

  close(): void {
    this.#keep(NOTHING);
    this.#parts.closed?.();
  }

  #keep(amounts: Amounts): void {
    for (const node of this.#parts.chain) {
      node.kept = plus(minus(node.kept, this.#kept), amounts);
    }
    this.#kept = amounts;
  }

  #shortage(request: BudgetRequest, when: 'now' | 'ever'): Shortage | undefined {
    const { chain, own } = this.#parts;
    const charge: Charge = { ...request, own: this.#kept };
    for (const node of chain) {
      const found = node.shortage(own, charge, when);
      if (found !== undefined) return found;
    }
    return undefined;
  }

  #grant(request: BudgetRequest, index: number): Reservation {
    const { chain, wake } = this.#parts;
    // The kept amount is offered to this call and comes back when it ends.
    this.#keep(NOTHING);
    let held = plus(request.call, request.keep);
    for (const node of chain) node.reserved = plus(node.reserved, held);
    return {
      index,
      call: request.call,
      book(used, unpriced) {
        // Used amounts are no longer reserved.
        const part = lesser(held, used);
        held = minus(held, part);
        for (const node of chain) {
          node.reserved = minus(node.reserved, part);
          node.spent = plus(node.spent, used);
          node.unpriced ??= unpriced;
        }
      },
      end: (amounts) => {
        for (const node of chain) node.reserved = minus(node.reserved, held);
        held = NOTHING;
        this.#keep(amounts);
        wake();
      },
    };
  }
}

/** Resolves when a call ends or the signal aborts. */
async function nextChange(waiting: Set<() => void>, signal: AbortSignal): Promise<void> {
  let done = (): void => {};
  const change = new Promise<void>((resolve) => {
    done = resolve;
  });
  waiting.add(done);
  // The caller looks at the signal itself.
  await orAbort(change, signal).catch(() => undefined);
  waiting.delete(done);
}
