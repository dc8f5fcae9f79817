import { wordSet } from '../patterns/word-set.js';

/**
 * Tags that the runtime uses in texts for the model. Only letters: dashes, blanks and invisible characters
 * between them make no difference to a model.
 */
const TAGS = [
  ...wordSet(
    `systemreminder tasknotification userpromptsubmithook commandname commandmessage commandargs bashinput
     bashstdout bashstderr localcommand agentmessage agentreport agentmemory forknotice mcpserverinstructions
     mentionedfile mcpresource teammatemessage conversationsummary`,
  ),
];

/** How many characters after the bracket are read. */
const FARTHEST = 160;
const BRACKET = /[<\uff1c\ufe64]/g;

/** Escapes the bracket of each reserved tag, so that text of others does not pass for the runtime's. */
export function escapeReservedTags(text: string): string {
  return text.replace(BRACKET, (bracket, at: number) =>
    opensTag(text, at + 1) ? '&lt;' : bracket,
  );
}

/** Stops at the first letter that no tag has there, which in most texts is the first one. */
function opensTag(text: string, from: number): boolean {
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
    const possible = TAGS.filter((tag) => tag.startsWith(letters) || letters.startsWith(tag));
    if (possible.length === 0) return false;
    if (possible.some((tag) => letters.startsWith(tag))) return true;
  }
  return false;
}
