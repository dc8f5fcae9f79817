import type { HereDoc, Script, SyntaxNode } from 'unbash';
import { refuse } from './refusal.js';

export interface Span {
  readonly pos: number;
  readonly end: number;
}

type Walk = (node: SyntaxNode, visit: (child: SyntaxNode) => void) => void;

/** The text that a tree was read from. */
export class Source {
  readonly text: string;
  /** The text with here-documents, their closing lines included, blanked. */
  readonly #code: string;

  constructor(text: string, script: Script, forEachChild: Walk) {
    this.text = text;
    this.#code = withoutHereDocuments(text, script, forEachChild);
  }

  slice({ pos, end }: Span): string {
    return this.text.slice(pos, end);
  }

  /** The punctuation between two nodes, without blanks, comments and continued lines. */
  between(from: number, to: number): string {
    if (from > to) refuse('ambiguous', 'has parts that overlap');
    return this.#code
      .slice(from, to)
      .replaceAll('\\\n', ' ')
      .replace(/(^|[\s;&|(){}])#[^\n]*/g, '$1')
      .trim();
  }

  /** Whether a line ends between two nodes. */
  breaksLine(from: number, to: number): boolean {
    return this.#code.slice(from, to).replaceAll('\\\n', ' ').includes('\n');
  }
}

function withoutHereDocuments(text: string, script: Script, forEachChild: Walk): string {
  const documents: HereDoc[] = [];
  const look = (node: SyntaxNode): void => {
    // Between backquotes positions count from the beginning of the inner text.
    if (node.type === 'Script' && node !== script && node.source !== undefined) return;
    if (node.type === 'HereDoc') documents.push(node);
    forEachChild(node, look);
  };
  look(script);
  let code = '';
  let at = 0;
  for (const { body, closing } of documents.toSorted((a, b) => a.body.pos - b.body.pos)) {
    if (closing === undefined) refuse('syntax', 'has a here-document without its end');
    // One inside of another's text.
    if (body.pos < at) continue;
    code += text.slice(at, body.pos) + ' '.repeat(closing.end - body.pos);
    at = closing.end;
  }
  return code + text.slice(at);
}

/**
 * Rendered code. All between two nodes must be the punctuation that the tree asks for there: the parser recovers from
 * some mistakes by leaving text out, which bash would not do.
 */
export class Writer {
  readonly #source: Source;
  #text = '';
  /** Where the last node ended, and the punctuation since then. */
  #at: number;
  #punctuation = '';
  /** Here-documents, whose text waits for the end of the line. */
  #documents = '';

  constructor(source: Source, start: number) {
    this.#source = source;
    this.#at = start;
  }

  /** Punctuation or a word of the language; `expected` is what the source has for it, where that differs. */
  add(syntax: string, expected = syntax): void {
    this.#text += syntax;
    this.#punctuation += expected;
  }

  node({ pos, end }: Span, rendered: string): void {
    // fail-closed: other text than expected may be code that the tree does not show.
    if (squeezed(this.#source.between(this.#at, pos)) !== squeezed(this.#punctuation)) {
      refuse('ambiguous', 'has text that is part of no command');
    }
    this.#text += rendered;
    this.#at = end;
    this.#punctuation = '';
  }

  document(text: string): void {
    this.#documents += text;
  }

  /** Ends a command: with a line where the source has one, or where a here-document waits. */
  separate({ isLine = false, sign = '; ' }: { isLine?: boolean; sign?: string } = {}): void {
    this.#text += isLine || this.#documents !== '' ? `\n${this.#documents}` : sign;
    this.#documents = '';
  }

  finish(end: number): string {
    this.node({ pos: end, end }, '');
    if (this.#documents !== '') this.separate();
    return this.#text;
  }
}

/** Lines and semicolons separate commands alike. */
function squeezed(punctuation: string): string {
  return punctuation.replace(/\s|(?<!;);(?![;&])/g, '');
}

export interface RenderContext {
  readonly source: Source;
  /** How many substitutions enclose it. */
  readonly depth: number;
  /** Renders the code of a substitution. */
  code(script: Script, context: RenderContext): string;
}
