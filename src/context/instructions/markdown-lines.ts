export interface MarkdownLine {
  /** From 1. */
  readonly number: number;
  readonly raw: string;
  /**
   * `open`, `code` and `close` make a fenced block. `comment` belongs to a comment that begins a
   * line and is closed; the rest of that line is its `text`.
   */
  readonly kind: 'text' | 'blank' | 'open' | 'code' | 'close' | 'indented' | 'comment';
  /** Without the marks of the quotes and lists around it. Of `open`: the words behind the fence. */
  readonly text: string;
}

interface Fence {
  readonly char: string;
  readonly length: number;
  /** Column at which the content of the list around it stands. */
  readonly base: number;
  readonly quotes: number;
}

/**
 * Markdown, line by line, as far as it matters here: what is code, what is a comment, what is text.
 * Takes time in proportion to the text.
 */
export function* markdownLines(source: string): Generator<MarkdownLine> {
  const lines = source.split('\n');
  const lastEnd = lines.findLastIndex((line) => line.includes('-->'));
  const state: State = { fence: undefined, list: 0, paragraph: false };
  let inComment = false;
  for (const [index, raw] of lines.entries()) {
    const number = index + 1;
    // What is left of the line once the comments that begin it are gone.
    let rest = raw;
    let commented = inComment;
    while (inComment || startsComment(rest, state)) {
      const start = inComment ? 0 : rest.indexOf('<!--') + 2;
      const end = rest.indexOf('-->', start);
      // A comment that never ends is text.
      if (end === -1 && index >= lastEnd) break;
      commented = true;
      inComment = end === -1;
      rest = end === -1 ? '' : rest.slice(end + 3);
      if (inComment) break;
    }
    if (commented) {
      const text = rest.trim() === '' ? '' : rest;
      state.paragraph = text !== '';
      yield { number, raw, kind: 'comment', text };
    } else yield { number, raw, ...classify(raw, state) };
  }
}

interface State {
  fence: Fence | undefined;
  /** Column at which the content of the current list item stands; 0 outside of lists. */
  list: number;
  paragraph: boolean;
}

function startsComment(line: string, state: State): boolean {
  if (state.fence !== undefined) return false;
  const start = line.search(/\S/);
  if (start === -1 || !line.startsWith('<!--', start)) return false;
  return columnOf(line.slice(0, start)) < state.list + 4;
}

function classify(raw: string, state: State): Pick<MarkdownLine, 'kind' | 'text'> {
  const { quotes, line } = unquoted(raw, state.fence?.quotes);
  if (state.fence !== undefined) {
    const inside = insideFence(line, quotes, state.fence);
    if (inside !== undefined) {
      if (inside.kind === 'close') state.fence = undefined;
      return inside;
    }
    state.fence = undefined;
  }
  const text = line.trimStart();
  if (text === '') {
    state.paragraph = false;
    return { kind: 'blank', text: '' };
  }
  const column = columnOf(line.slice(0, line.length - text.length));
  if (column < state.list && !state.paragraph) state.list = 0;
  const indent = column >= state.list ? column - state.list : column;
  if (indent >= 4 && !state.paragraph) return { kind: 'indented', text };
  return block(text, { column, quotes, state });
}

/** The text behind list marks may itself begin a list, a fence or a heading. */
function block(
  source: string,
  at: { column: number; quotes: number; state: State },
): Pick<MarkdownLine, 'kind' | 'text'> {
  const { quotes, state } = at;
  let { column } = at;
  let text = source;
  for (let mark = LIST_MARK.exec(text); mark !== null; mark = LIST_MARK.exec(text)) {
    const width = columnOf(mark[2] ?? '');
    column += (mark[1]?.length ?? 0) + (width > 4 ? 1 : Math.max(1, width));
    text = text.slice(mark[0].length);
    state.list = column;
    state.paragraph = false;
    // More blanks than that behind the mark make the rest code.
    if (width > 4 && text !== '') return { kind: 'indented', text };
  }
  const fence = /^(`{3,})([^`]*)$|^(~{3,})(.*)$/s.exec(text);
  if (fence !== null) {
    const marks = fence[1] ?? fence[3] ?? '';
    const base = column >= state.list ? state.list : 0;
    state.fence = { char: marks.charAt(0), length: marks.length, base, quotes };
    state.paragraph = false;
    return { kind: 'open', text: (fence[2] ?? fence[4] ?? '').trim() };
  }
  state.paragraph = text !== '' && !/^#{1,6}(?:\s|$)|^(?:-{3,}|\*{3,}|_{3,}|={3,})\s*$/.test(text);
  return { kind: text === '' ? 'blank' : 'text', text };
}

const LIST_MARK = /^([-+*]|\d{1,9}[.)])([ \t]+|$)/;

/** Undefined when the quote or list around the fence has ended. */
function insideFence(
  line: string,
  quotes: number,
  fence: Fence,
): Pick<MarkdownLine, 'kind' | 'text'> | undefined {
  if (quotes < fence.quotes) return undefined;
  const text = line.trimStart();
  const column = columnOf(line.slice(0, line.length - text.length));
  if (text !== '' && column < fence.base) return undefined;
  const marks = /^(`+|~+)\s*$/.exec(text)?.[1];
  const closes =
    marks !== undefined &&
    marks.charAt(0) === fence.char &&
    marks.length >= fence.length &&
    column < fence.base + 4;
  return closes ? { kind: 'close', text: '' } : { kind: 'code', text: line };
}

/** Takes `> ` off, at most as often as said. */
function unquoted(raw: string, most = Number.POSITIVE_INFINITY): { quotes: number; line: string } {
  let line = raw;
  let quotes = 0;
  for (let mark = QUOTE.exec(line); mark !== null && quotes < most; mark = QUOTE.exec(line)) {
    line = line.slice(mark[0].length);
    quotes++;
  }
  return { quotes, line };
}

const QUOTE = /^ {0,3}> ?/;

/** A tab goes to the next multiple of four. */
function columnOf(blanks: string): number {
  let column = 0;
  for (const blank of blanks) column += blank === '\t' ? 4 - (column % 4) : 1;
  return column;
}
