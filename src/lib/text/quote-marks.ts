import { wordSet } from '../patterns/word-set.js';

/**
 * Marks by which the runtime speaks to the model. Only letters: dashes, blanks and what is not seen
 * between them make no difference to a model.
 */
const MARKS = [
  ...wordSet(
    `systemreminder tasknotification userpromptsubmithook commandname commandmessage commandargs bashinput
     bashstdout bashstderr localcommand agentmessage agentreport agentmemory forknotice mcpserverinstructions
     mentionedfile mcpresource teammatemessage conversationsummary`,
  ),
];

/** Characters after the bracket that are looked at: a mark with more between its letters is none. */
const FARTHEST = 160;
const BRACKET = /[<\uff1c\ufe64]/g;

/** What others wrote must not pass for a word of the runtime: the bracket of each mark is quoted. */
export function quoteMarks(text: string): string {
  return text.replace(BRACKET, (bracket, at: number) =>
    opensMark(text, at + 1) ? '&lt;' : bracket,
  );
}

/** Reads no further than a mark can still come, which in most texts is one letter. */
function opensMark(text: string, from: number): boolean {
  const end = Math.min(text.length, from + FARTHEST);
  // Blanks, dashes, slashes, underscores, and what has no shape of its own.
  const between =
    /[\s\p{Pd}\p{Pc}\p{Cc}\p{Cf}\p{Mn}\p{Z}\u2212\u115f\u1160\u3164\uffa0\u2800/\\]|\p{Variation_Selector}/u;
  let letters = '';
  for (let at = from; at < end; ) {
    const char = String.fromCodePoint(text.codePointAt(at) ?? 0);
    at += char.length;
    if (between.test(char)) continue;
    // Letters of other widths and styles read like plain ones.
    letters += char.normalize('NFKC').toLowerCase();
    const possible = MARKS.filter((mark) => mark.startsWith(letters) || letters.startsWith(mark));
    if (possible.length === 0) return false;
    if (possible.some((mark) => letters.startsWith(mark))) return true;
  }
  return false;
}
