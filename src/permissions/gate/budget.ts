/** One step is a word, a path, a listed name or a character of code; ordinary commands take some hundreds. */
const MOST_STEPS = 1_000_000;

/**
 * How much work one judgement may take. Every part of the analysis draws from the same counter, so that
 * no command line keeps the runtime busy, whatever its parts cost together.
 */
export class Budget {
  #spent = 0;
  readonly #most: number;

  constructor(most = MOST_STEPS) {
    this.#most = most;
  }

  get spent(): number {
    return this.#spent;
  }

  /** fail-closed: beyond the limit everything that asks for more fails, so that a person is asked. */
  spend(steps = 1): void {
    this.#spent += steps;
    if (this.#spent > this.#most) throw new TooComplexError();
  }
}

/** A judgement that would take too many steps. */
export class TooComplexError extends Error {
  constructor() {
    super('it is too complex to judge; split it into smaller commands');
    this.name = 'TooComplexError';
  }
}

/** How much of the disk one call may look through. */
export interface TreeBudget {
  entries: number;
  readonly until: number;
}

export const MOST_ENTRIES = 100_000;
const LONGEST_MS = 2_000;

export function treeBudget(): TreeBudget {
  return { entries: MOST_ENTRIES, until: performance.now() + LONGEST_MS };
}

/** Names that hold copies of what lies elsewhere: patterns for any depth are not looked for in there. */
export const COPIES: ReadonlySet<string> = new Set(['.git', 'node_modules']);
