/** A piece of the rendering: text that is quoted, or shell syntax. */
export interface Document {
  readonly delimiter: string;
  readonly body: string;
}

/** Rendered code. The bodies of here-documents wait for the end of their line. */
export class Writer {
  #text = '';
  #waiting: Document[] = [];

  get text(): string {
    return this.#text;
  }

  get hasWaiting(): boolean {
    return this.#waiting.length > 0;
  }

  add(text: string): void {
    this.#text += text;
  }

  addDocument(document: Document): void {
    this.#waiting.push(document);
  }

  newline(): void {
    this.#text += '\n';
    for (const { delimiter, body } of this.#waiting) this.#text += `${body}${delimiter}\n`;
    this.#waiting = [];
  }

  /** Ends a list in front of a word of the language, such as `then`. */
  endList(): void {
    if (this.hasWaiting) this.newline();
    else this.#text += '; ';
  }

  /** Ends the code as a whole, or in front of a closing bracket. */
  finish(): string {
    if (this.hasWaiting) this.newline();
    return this.#text;
  }
}

/** Text that stands for itself, wherever a word may stand. */
export function quoted(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`;
}
