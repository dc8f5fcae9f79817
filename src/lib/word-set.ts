/**
 * Words that are written as one text, and become a set when somebody first asks. Tables about commands
 * and files are part of every start, and most sessions look into few of them.
 */
export class WordSet {
  readonly #text: string;
  #words: ReadonlySet<string> | undefined;

  /** Words with blanks or line breaks between them. */
  constructor(text: string) {
    this.#text = text;
  }

  get all(): ReadonlySet<string> {
    this.#words ??= new Set(this.#text.trim().split(/\s+/));
    return this.#words;
  }

  has(word: string): boolean {
    return this.all.has(word);
  }
}
