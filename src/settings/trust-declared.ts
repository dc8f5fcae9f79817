import { draftsIn } from './trust-settings.js';
import type { Declaration, Draft, DraftList } from './trust-types.js';

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

/** The items of a list: hundreds, maybe, and whoever gives trust to them all asks for none. */
export class DeclaredList {
  readonly #list: DraftList;
  readonly #from: DeclaredIn;
  readonly #first: number;

  /** `first`: the number of its first item among all declarations of the file. */
  constructor(list: DraftList, from: DeclaredIn, first: number) {
    this.#list = list;
    this.#from = from;
    this.#first = first;
  }

  each(): readonly Declaration[] {
    return draftsIn(this.#list).map(
      (draft, index) => new Declared(draft, this.#from, this.#first + index),
    );
  }
}

/** What was found, in its order. Lists are taken apart when somebody asks for what is in them. */
export class Declarations {
  readonly #found: readonly (Declaration | DeclaredList)[];
  #all: readonly Declaration[] | undefined;

  constructor(found: readonly (Declaration | DeclaredList)[]) {
    this.#found = found;
  }

  get isNone(): boolean {
    return this.#found.length === 0;
  }

  all(): readonly Declaration[] {
    this.#all ??= this.#found.flatMap((one) => (one instanceof DeclaredList ? one.each() : one));
    return this.#all;
  }
}
