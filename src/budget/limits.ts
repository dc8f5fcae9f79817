import type { StopReason } from '../loop/types.js';

export interface LimitOptions {
  readonly maxTurns: number | undefined;
  readonly maxBudgetUsd: number | undefined;
  /** Spent so far by the whole session, as far as prices are known. */
  spentUsd(): number;
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
    const spentUsd = options.spentUsd();
    if (options.maxBudgetUsd !== undefined && spentUsd >= options.maxBudgetUsd) {
      return { kind: 'budget', limitUsd: options.maxBudgetUsd, spentUsd };
    }
    return undefined;
  };
}
