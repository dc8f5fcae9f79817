import type { Declaration, Draft } from './trust-types.js';

/** Where declarations come from, and what is found out about each of them when somebody asks. */
export interface DeclaredIn {
  /** Absolute. */
  readonly file: string;
  readonly level: string;
  /** False: some of what they stand for could not be taken in. */
  readonly complete: boolean;
  /** By what was read now; `index`: it is the first, second … of them. */
  digest(draft: Draft, index: number): string;
  line(draft: Draft): number | undefined;
}

/** What was found in a file. There may be hundreds, and nobody asks for most of their digests and lines. */
export class Declared implements Declaration {
  readonly kind: Declaration['kind'];
  readonly name: string;
  readonly text: string;
  readonly file: string;
  readonly level: string;
  readonly pinned: boolean;
  readonly #draft: Draft;
  readonly #from: DeclaredIn;
  readonly #index: number;
  #digest: string | undefined;

  constructor(draft: Draft, from: DeclaredIn, index = 0) {
    this.kind = draft.kind;
    this.name = draft.name;
    this.text = draft.text;
    this.file = from.file;
    this.level = from.level;
    this.pinned = from.complete && draft.pinned !== false;
    this.#draft = draft;
    this.#from = from;
    this.#index = index;
  }

  get line(): number | undefined {
    return this.#from.line(this.#draft);
  }

  get digest(): string {
    this.#digest ??= this.#from.digest(this.#draft, this.#index);
    return this.#digest;
  }
}
