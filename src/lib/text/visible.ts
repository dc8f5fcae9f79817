/**
 * Text from a file of another author, safe and honest on a terminal: control characters,
 * characters that turn the direction of writing and invisible ones appear as their code, and a long
 * run of blanks, which could push the end out of sight, as its length.
 */
export function visible(text: string): string {
  // Most texts; to set up what finds the rest takes longer than to read all settings.
  if (/^[ -~]*$/.test(text) && !text.includes('      ')) return text;
  return text
    .replace(hidden(), (character) => NAMED[character] ?? codeOf(character))
    .replace(/ {6,}/g, (run) => `⟨${run.length} spaces⟩`);
}

/**
 * A text of many lines, the same way, but with its tabs, blanks and ends of lines as they are: a patch
 * still applies unless it holds what a terminal must not get.
 */
export function visibleText(text: string): string {
  return text.replace(hidden(), (character, at: number) =>
    KEPT.has(character) || (character === '\r' && text[at + 1] === '\n')
      ? character
      : codeOf(character),
  );
}

const KEPT: ReadonlySet<string> = new Set(['\n', '\t', '\u00a0', '\ufe0f']);
const NAMED: Readonly<Record<string, string>> = { '\n': '\\n', '\r': '\\r', '\t': '\\t' };

/** Controls, format characters (bidirectional marks, zero width, tags), separators, odd blanks, lone surrogates. */
function hidden(): RegExp {
  return /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}\p{Co}\p{Default_Ignorable_Code_Point}\u2800]|(?! )\p{Zs}/gu;
}

/** Whether a text holds what no person sees: nothing at all, or a change of direction. Selectors of emoji styles are no such thing. */
export function hasInvisible(text: string): boolean {
  return /(?![\ufe00-\ufe0f])\p{Default_Ignorable_Code_Point}|[\u2028\u2029]/u.test(text);
}

function codeOf(character: string): string {
  const code = character.codePointAt(0) ?? 0;
  return code > 0xffff ? `\\u{${code.toString(16)}}` : `\\u${code.toString(16).padStart(4, '0')}`;
}
