import type { HereDoc, Script, SyntaxNode } from 'unbash';
import { refuse } from './refusal.js';

export interface Span {
  readonly pos: number;
  readonly end: number;
}

type Walk = (node: SyntaxNode, visit: (child: SyntaxNode) => void) => void;

/**
 * The text that a tree was read from. Every character of it must belong to a node or to the punctuation expected
 * there: the parser recovers from some mistakes by leaving text out, which bash would not do.
 */
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

  /** fail-closed: other text than expected may be code that the tree does not show. */
  expect(from: number, to: number, punctuation: RegExp | string): void {
    const found = this.between(from, to);
    const fits = typeof punctuation === 'string' ? found === punctuation : punctuation.test(found);
    if (!fits) refuse('ambiguous', 'has text that is part of no command');
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
