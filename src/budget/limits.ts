import type { StopReason } from '../loop/types.js';

export interface LimitOptions {
  readonly maxTurns: number | undefined;
  readonly maxBudgetUsd: number | undefined;
  /** Spent so far by the whole session, as far as prices are known. */
  spentUsd(): number;
  /** Calls so far whose price is not known: the server may answer as another model than it was asked for. */
  unpricedCalls(): number;
  /** Set when the model keeps failing in the same way. */
  stuck(): string | undefined;
}

/** What may end a run before the model does. Asked before every model call. */
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
    // Adding up takes time, with many agents the more.
    if (limitUsd === undefined) return undefined;
    const spentUsd = options.spentUsd();
    // fail-closed: a budget that cannot be counted is used up.
    const used = spentUsd >= limitUsd || options.unpricedCalls() > 0;
    return used ? { kind: 'budget', limitUsd, spentUsd } : undefined;
  };
}
