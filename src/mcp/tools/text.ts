import { quoteMarks } from '../../lib/quote-marks.js';
import { sliceWhole } from '../../lib/truncate.js';
import { visible } from '../../lib/visible.js';

/** Line breaks, tabs and indentation are layout; all else that is not seen is shown as its code. */
const LAYOUT = /(\n|\t| {6,})/;

/**
 * A server's text as the model may read it: nothing in it is invisible, it imitates none of our
 * marks, and what was cut off is said.
 */
export function shownText(text: string, cap: number): string {
  // Measured first, so that a text of megabytes costs nothing.
  const kept = sliceWhole(text, 0, cap);
  const shown = kept
    .replace(/\r\n?/g, '\n')
    .split(LAYOUT)
    .map((part, index) => (index % 2 === 1 ? part : visible(part)))
    .join('');
  const cut = text.length - kept.length;
  return quoteMarks(cut === 0 ? shown : `${shown}… [${cut} more characters were cut off]`);
}

/** Whether a name holds something that is not seen, or blanks that are none. */
export function hasHidden(text: string): boolean {
  return visible(text) !== text;
}
