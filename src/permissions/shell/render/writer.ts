import type { DoubleQuotedChild, Script } from 'unbash';
import type { Source } from './source.js';

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

/** Where an expansion stands: outside quotes, in double quotes, or in the text of a here-document. */
export type Quoting = 'bare' | 'quoted' | 'document';

export type Expansion = Exclude<DoubleQuotedChild, { type: 'Literal' }>;

export interface RenderContext {
  readonly source: Source;
  /** How many substitutions enclose it. */
  readonly depth: number;
  /** Renders the code of a substitution. */
  code(script: Script, context: RenderContext): string;
  /** An expansion as it is written inside the quotes it stands in. */
  expansion(part: Expansion, context: RenderContext, quoting: Quoting): string;
}
