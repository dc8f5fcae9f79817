import type { Author, Change, OpenWindow } from '../types.js';

/** A span of time in which somebody may write, as the journal sees it. */
export class CallWindow implements OpenWindow {
  readonly id: string;
  readonly startedAt: number;
  /** Position of the turn it was begun in. */
  readonly turn: number;
  readonly changes: Promise<readonly Change[]>;
  readonly found: Change[] = [];
  author: Author;
  endedAt: number | undefined;
  readonly #now: () => number;
  readonly #ended: () => void;
  #settle = (_: readonly Change[]): void => {};

  /** `ended` is called once, when the window ends: a look has to follow. */
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

  goesOn(): void {
    if (this.author.kind === 'call') this.author = { ...this.author, background: true };
  }

  /** A look that began after its end has been written down: nothing found later can be its. */
  settle(): void {
    this.#settle(this.found);
  }
}
