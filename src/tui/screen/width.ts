import { eastAsianWidth } from 'get-east-asian-width';

const segmenter = new Intl.Segmenter(undefined, { granularity: 'grapheme' });
const PLAIN = /^[\x20-\x7e]*$/;
const ZERO = /^[\p{Mn}\p{Me}\p{Cf}\p{Cc}]+$/u;
const EMOJI = /\p{Emoji_Presentation}|\ufe0f/u;

/** The characters of a text as a person counts them: an emoji sequence is one. */
export function graphemes(text: string): string[] {
  if (PLAIN.test(text)) return text.split('');
  return Array.from(segmenter.segment(text), ({ segment }) => segment);
}

/** How many cells of a terminal a grapheme fills. */
export function graphemeWidth(grapheme: string): number {
  if (PLAIN.test(grapheme)) return grapheme.length;
  if (ZERO.test(grapheme)) return 0;
  if (EMOJI.test(grapheme)) return 2;
  return eastAsianWidth(grapheme.codePointAt(0) ?? 0);
}

/** How many cells of a terminal a text fills. */
export function textWidth(text: string): number {
  if (PLAIN.test(text)) return text.length;
  let width = 0;
  for (const grapheme of graphemes(text)) width += graphemeWidth(grapheme);
  return width;
}

/** On how many rows a terminal of this width lays out one line. */
export function wrappedRows(text: string, columns: number): number {
  if (PLAIN.test(text)) return Math.max(1, Math.ceil(text.length / columns));
  let rows = 1;
  let used = 0;
  for (const grapheme of graphemes(text)) {
    const width = graphemeWidth(grapheme);
    if (used + width > columns) {
      rows++;
      used = 0;
    }
    used += width;
  }
  return rows;
}

/** The longest beginning of a text that fits into so many cells. */
export function fitText(text: string, columns: number): string {
  if (PLAIN.test(text)) return text.slice(0, Math.max(0, columns));
  let used = 0;
  let end = 0;
  for (const grapheme of graphemes(text)) {
    used += graphemeWidth(grapheme);
    if (used > columns) break;
    end += grapheme.length;
  }
  return text.slice(0, end);
}
