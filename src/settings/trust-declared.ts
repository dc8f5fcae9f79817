import type { Declaration } from './trust-types.js';

/** What was found in a file. There may be hundreds, and nobody compares most of their digests. */
export class Declared implements Declaration {
  readonly kind: Declaration['kind'];
  readonly name: string;
  readonly text: string;
  readonly file: string;
  readonly level: string;
  readonly line: number | undefined;
  readonly pinned: boolean;
  readonly #made: { digest(): string };
  #digest: string | undefined;

  constructor(facts: Omit<Declaration, 'digest'>, made: { digest(): string }) {
    this.kind = facts.kind;
    this.name = facts.name;
    this.text = facts.text;
    this.file = facts.file;
    this.level = facts.level;
    this.line = facts.line;
    this.pinned = facts.pinned;
    this.#made = made;
  }

  get digest(): string {
    this.#digest ??= this.#made.digest();
    return this.#digest;
  }
}
