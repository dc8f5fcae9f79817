import type { Author, Change, OpenWindow } from '../types.js';

/** A period in which an author may write. */
export class CallWindow implements OpenWindow {
  readonly id: string;
  readonly startedAt: number;
  /** The index of the turn it began in. */
  readonly turn: number;
  readonly changes: Promise<readonly Change[]>;
  readonly found: Change[] = [];
  author: Author;
  endedAt: number | undefined;
  readonly #now: () => number;
  readonly #ended: () => void;
  #settle = (_: readonly Change[]): void => {};

  /** `ended` is called once when the window ends, for a final scan. */
  constructor(
    about: { readonly id: string; readonly author: Author; readonly turn: number },
    now: () => number,
    ended: () => void,
  ) {
    this.id = about.id;
    this.author = about.author;
    this.turn = about.turn;
    this.startedAt = now();
    this.#now = now;
    this.#ended = ended;
    this.changes = new Promise((resolve) => {
      this.#settle = resolve;
    });
  }

  end(): void {
    if (this.endedAt !== undefined) return;
    this.endedAt = this.#now();
    this.#ended();
  }

  moveToBackground(): void {
    if (this.author.kind === 'call') this.author = { ...this.author, background: true };
  }

  /** Completes `changes`: a scan after its end has been recorded. */
  settle(): void {
    this.#settle(this.found);
  }
}
