import { type Line, STYLE, span } from '../screen/line.js';
import { graphemes, graphemeWidth } from '../screen/width.js';

/** One row of the editor: the characters from `start` to `end` of the text. */
export interface Row {
  readonly start: number;
  readonly end: number;
}

/** Breaks at blanks where a row has one; each character of the text is in one row. */
export function breakRows(text: string, columns: number): Row[] {
  const rows: Row[] = [];
  let offset = 0;
  for (const paragraph of text.split('\n')) {
    let start = offset;
    let at = offset;
    let used = 0;
    let blank = -1;
    for (const grapheme of graphemes(paragraph)) {
      const width = Math.max(1, graphemeWidth(grapheme));
      if (used + width > columns && at > start) {
        const end = blank > start ? blank : at;
        rows.push({ start, end });
        used = widthOf(text.slice(end, at));
        start = end;
        blank = -1;
      }
      at += grapheme.length;
      used += width;
      if (grapheme === ' ') blank = at;
    }
    rows.push({ start, end: at });
    offset += paragraph.length + 1;
  }
  return rows;
}

function widthOf(text: string): number {
  return graphemes(text).reduce((sum, one) => sum + Math.max(1, graphemeWidth(one)), 0);
}

/** Characters that cannot be shown become a mark of the same length, so that the caret stays right. */
export function styledRow(text: string): Line {
  const shown = text
    .replace(/\t/g, ' ')
    .replace(/[\p{Cc}\u200e\u200f\u202a-\u202e\u2066-\u2069]/gu, '·');
  return shown
    .split(/(\[(?:Pasted text #\d+: |Image #\d+ · )[^\]]*\])/)
    .filter((part) => part !== '')
    .map((part) => span(part, /^\[(?:Pasted text|Image) #/.test(part) ? STYLE.accent : undefined));
}
