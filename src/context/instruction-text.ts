import { markdownLines } from './markdown-lines.js';

/** Notes of authors to themselves: comments that begin a line. Those in code and within a line stay. */
export function withoutBlockComments(text: string): string {
  if (!text.includes('<!--')) return text;
  const kept: string[] = [];
  for (const { kind, raw, text: rest } of markdownLines(text)) {
    if (kind !== 'comment') kept.push(raw);
    else if (rest !== '') kept.push(rest);
  }
  return kept.join('\n');
}

/**
 * Takes out what a person who reviews the file cannot see: control characters, marks that turn the
 * direction of writing, zero-width and tag characters. Joiners and selectors stay where scripts and
 * pictures need them.
 */
export function withoutHidden(text: string): { readonly text: string; readonly removed: number } {
  if (/^[\t\n\x20-\x7e]*$/.test(text)) return { text, removed: 0 };
  let removed = 0;
  const take = (): string => {
    removed++;
    return '';
  };
  const visible = text.replace(HIDDEN, take).replace(LOOSE, take);
  return { text: visible, removed };
}

/** Controls but tab and newline, soft hyphen, direction, zero width, fillers, tags, supplementary selectors. */
const HIDDEN =
  /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b\u200e\u200f\u202a-\u202e\u2060-\u206f\u3164\ufeff\uffa0\ufff9-\ufffb\u{1bca0}-\u{1bca3}\u{1d173}-\u{1d17a}\u{e0000}-\u{e0fff}]/gu;
/** Joiners and selectors that join nothing: beside plain letters, at an edge, or several in a row. */
const LOOSE =
  /(?<![^\x00-\x7f\u200c\u200d\ufe00-\ufe0f\s]\ufe0f?)[\u200c\u200d]|[\u200c\u200d](?![^\x00-\x7f\u200c\u200d\ufe00-\ufe0f\s])|(?<![^\x00-\x22\x24-\x29\x2b-\x2f\x3a-\x7f\u200c\u200d\ufe00-\ufe0f\s])[\ufe00-\ufe0f]/gu;

/** First lines of a text that may not take more room than that, with a note of what is missing. */
export function firstLines(
  text: string,
  most: { readonly lines: number; readonly bytes: number },
): { readonly text: string; readonly note?: string } {
  const lines = text.split('\n');
  if (lines.at(-1) === '') lines.pop();
  let bytes = 0;
  let count = 0;
  for (const line of lines.slice(0, most.lines)) {
    bytes += utf8.encode(line).length + 1;
    // The newline behind the last line does not count.
    if (bytes - 1 > most.bytes) break;
    count++;
  }
  if (count === lines.length) return { text };
  const what =
    count === 0
      ? `its first line is longer than ${most.bytes} bytes`
      : `only the first ${count} of ${lines.length} lines are shown`;
  return { text: lines.slice(0, count).join('\n'), note: `${what}; keep it shorter` };
}

const utf8 = new TextEncoder();
