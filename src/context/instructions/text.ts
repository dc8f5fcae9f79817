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
  const visible = text.replace(HIDDEN, (char, at: number, whole: string) => {
    if (isInUse(char, at, whole)) return char;
    removed++;
    return '';
  });
  return { text: visible, removed };
}

const HIDDEN = /\p{Default_Ignorable_Code_Point}|[\ufff9-\ufffb]|(?![\t\n])\p{Cc}/gu;

/** Not beside plain letters, at an edge, or several in a row: there a joiner joins nothing. */
function isInUse(char: string, at: number, text: string): boolean {
  const before = text.charAt(at - 1);
  if (/[\ufe00-\ufe0f]/.test(char)) return isForeign(before) || /[#*\d]/.test(before);
  if (char !== '\u200c' && char !== '\u200d') return false;
  const base = before === '\ufe0f' ? text.charAt(at - 2) : before;
  return isForeign(base) && isForeign(text.charAt(at + 1));
}

/** A visible letter or picture, or half of one, beyond ASCII. */
function isForeign(char: string): boolean {
  return char > '\x7f' && !/\s|\p{Default_Ignorable_Code_Point}/u.test(char);
}

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
