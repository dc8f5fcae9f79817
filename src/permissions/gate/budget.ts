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
    super(
      'it is too complex to judge; split it into smaller commands or name narrower directories',
    );
    this.name = 'TooComplexError';
  }
}

/** Names that hold copies of what lies elsewhere: patterns for any depth are not looked for in there. */
export const COPIES: ReadonlySet<string> = new Set(['.git', 'node_modules']);
