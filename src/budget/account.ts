import { err, ok, type Result } from '../lib/result.js';
import type { BudgetNode, Draw } from './node.js';
import { type Amounts, lesser, minus, NOTHING, plus, type Shortage } from './units.js';

/** A request for a model call, and what must be left for the last turn once it has been made. */
export type Ask = Omit<Draw, 'own'>;

/** Promised to one call. Real usage takes its place. */
export interface Reservation {
  /** Which of the asks was granted. */
  readonly index: number;
  /** What the call may use. */
  readonly call: Amounts;
  /** Books real usage; further calls add to it. `unpriced`: a model whose price is not known. */
  book(used: Amounts, unpriced?: string): void;
  /** The call is over: what it did not use is free again. `keep` is kept for the last turn. */
  end(keep: Amounts): void;
}

interface AccountParts {
  readonly path: string;
  /** The agent's own budget; undefined: it has no limits of its own. */
  readonly own: BudgetNode | undefined;
  /** Every budget that the agent draws on, from the root down. */
  readonly chain: readonly BudgetNode[];
  readonly waiting: Set<() => void>;
  wake(): void;
  closed?(): void;
}

/** What one agent draws on. */
export class BudgetAccount {
  readonly #parts: AccountParts;
  #kept: Amounts = NOTHING;

  constructor(parts: AccountParts) {
    this.#parts = parts;
  }

  get path(): string {
    return this.#parts.path;
  }

  /** False: no budget up to the root has a limit. */
  get isLimited(): boolean {
    return this.#parts.chain.length > 0;
  }

  /**
   * The first of the asks that fits into every budget up to the root. Waits while it could fit once
   * calls of others are over. An error: it cannot, or `signal` aborted (`undefined`).
   */
  async reserve(
    asks: readonly Ask[],
    signal: AbortSignal,
  ): Promise<Result<Reservation, Shortage | undefined>> {
    for (;;) {
      if (signal.aborted) return err(undefined);
      const index = asks.findIndex((ask) => this.#shortage(ask, 'now') === undefined);
      const fits = asks[index];
      if (fits !== undefined) return ok(this.#grant(fits, index));
      const last = asks.at(-1);
      const never = last === undefined ? undefined : this.#shortage(last, 'ever');
      if (never !== undefined || last === undefined) return err(never);
      await nextChange(this.#parts.waiting, signal);
    }
  }

  /** Why this can never be granted, even if the calls under way used nothing. */
  shortOf(ask: Ask): Shortage | undefined {
    return this.#shortage(ask, 'ever');
  }

  /** Of the budget of time that ends first. */
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

  /** The agent begins to work: time is used, here and above. */
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

  #shortage(ask: Ask, when: 'now' | 'ever'): Shortage | undefined {
    const { chain, own } = this.#parts;
    const draw: Draw = { ...ask, own: this.#kept };
    for (const node of chain) {
      const found = node.shortage(own, draw, when);
      if (found !== undefined) return found;
    }
    return undefined;
  }

  #grant(ask: Ask, index: number): Reservation {
    const { chain, wake } = this.#parts;
    // What the agent had kept is part of what it is given, and comes back when the call is over.
    this.#keep(NOTHING);
    let held = plus(ask.call, ask.keep);
    for (const node of chain) node.reserved = plus(node.reserved, held);
    return {
      index,
      call: ask.call,
      book(used, unpriced) {
        // What is used is no longer promised.
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

/** Resolves when a call is over, or the signal aborts. */
function nextChange(waiting: Set<() => void>, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const done = (): void => {
      waiting.delete(done);
      signal.removeEventListener('abort', done);
      resolve();
    };
    waiting.add(done);
    signal.addEventListener('abort', done, { once: true });
  });
}
