import { refuse } from './refusal.js';

/** A character of unquoted or double-quoted text, and whether a backslash quotes it. */
export interface Letter {
  readonly char: string;
  readonly escaped: boolean;
}

/** Unquoted text, a letter at a time. */
export function unquotedLetters(raw: string): readonly Letter[] {
  return lettersOf(raw, () => true);
}

/** In double quotes and here-documents a backslash quotes few characters, and stands for itself before others. */
export function lettersInQuotes(
  raw: string,
  { document }: { document: boolean },
): readonly Letter[] {
  const special = document ? '$`\\' : '$`\\"';
  const letters = lettersOf(raw, (char) => special.includes(char));
  letters.forEach(({ char, escaped }, at) => {
    if (escaped) return;
    if (char === '`' || (char === '"' && !document)) refuse('ambiguous', 'has a stray quote');
    const next = letters[at + 1];
    if (char === '$' && next !== undefined && !next.escaped && /[\w({['"@*#?$!-]/.test(next.char)) {
      refuse('ambiguous', 'has a $ that was not read as an expansion');
    }
  });
  return letters;
}

function lettersOf(raw: string, isEscapable: (char: string) => boolean): readonly Letter[] {
  const chars = [...raw];
  const letters: Letter[] = [];
  for (let at = 0; at < chars.length; at++) {
    const char = chars[at] as string;
    const next = chars[at + 1];
    if (char !== '\\') letters.push({ char, escaped: false });
    else if (next === undefined) refuse('quoting', 'has a backslash at the end of a word');
    else if (next === '\n') at++;
    else if (isEscapable(next)) {
      letters.push({ char: next, escaped: true });
      at++;
    } else letters.push({ char, escaped: true });
  }
  return letters;
}

/** fail-closed: the parser must have read the same text. */
export function textOf(letters: readonly Letter[], expected: string): string {
  const text = letters.map(({ char }) => char).join('');
  if (text !== expected) refuse('ambiguous', 'has escapes that can be read in two ways');
  return text;
}

const ESCAPES: ReadonlyMap<string, string> = new Map([
  ['a', '\x07'],
  ['b', '\b'],
  ['e', '\x1b'],
  ['E', '\x1b'],
  ['f', '\f'],
  ['n', '\n'],
  ['r', '\r'],
  ['t', '\t'],
  ['v', '\v'],
  ['\\', '\\'],
  ["'", "'"],
  ['"', '"'],
  ['?', '?'],
]);

/** The text of a `$'…'` string. */
export function ansiText(raw: string, expected: string): string {
  if (!raw.startsWith("$'") || !raw.endsWith("'")) refuse('ambiguous', 'has an unfinished string');
  const sequence = /\\(?:x([0-9a-fA-F]{1,2})|u([0-9a-fA-F]{1,4})|([0-7]{1,3})|([\s\S]?))/g;
  const text = raw.slice(2, -1).replace(sequence, (_, hex, unicode, octal, letter) => {
    if (letter !== undefined) {
      return ESCAPES.get(letter) ?? refuse('quoting', "has an unusual escape in a $'…' string");
    }
    const code =
      unicode === undefined ? parseInt(hex ?? octal, hex ? 16 : 8) : parseInt(unicode, 16);
    const isByte = unicode === undefined && code > 0x7f;
    if (code === 0 || isByte || (code >= 0xd800 && code < 0xe000)) {
      refuse('quoting', "has bytes in a $'…' string that are no text");
    }
    return String.fromCharCode(code);
  });
  if (text !== expected) refuse('ambiguous', 'has escapes that can be read in two ways');
  return text;
}
