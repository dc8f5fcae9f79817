import { editDistance } from '../../lib/nearest.js';
import { withoutHidden } from '../instructions/text.js';

const WORD = 'portcullis';
const FURTHEST_MISSPELLING = 2;
/** Letters of other scripts that look like those of the word. */
const LOOK_ALIKES: ReadonlyMap<string, string> = new Map(
  Object.entries({
    p: '\u0440\u03c1\u0580\u2374',
    o: '\u043e\u03bf\u0585\u0ed0\u0966\u3007\u06c1',
    r: '\u0433\u1d26\uab47\uab48',
    t: '\u0442\u03c4\u1d1b',
    c: '\u0441\u03f2\u1d04',
    u: '\u03c5\u057d\u0446\u1d1c\u028b',
    l: '\u04cf\u0399\u0406\u01c0\u05c0\u2223',
    i: '\u0456\u03b9\u0131\u0269\u026a',
    s: '\u0455\ua731\u01bd',
  }).flatMap(([letter, others]) => [...others].map((other) => [other, letter] as const)),
);

/** What the words behind a fence say about its block. `misspelt`: the word is nearly ours. */
export type BlockWord = 'ours' | 'other' | { readonly misspelt: string };

/**
 * fail-closed: who writes the word as a second one, in braces, as a part of a longer one, with letters
 * that look alike or with two mistakes means a restriction, and must not be left to believe that it holds.
 */
export function blockWord(behind: string): BlockWord {
  const { text } = withoutHidden(behind);
  const seen = text.trim();
  const first = /^[^\s{,:]+/.exec(seen)?.[0] ?? '';
  if (first.toLowerCase() === WORD) return 'ours';
  const isNear = isNearly(first) || seen.split(NO_LETTERS).some(isNearly);
  return isNear ? { misspelt: seen.slice(0, LONGEST_QUOTE) } : 'other';
}

/** Whether a line holds the word and no other; signs do not count. */
export function isWordAlone(line: string): boolean {
  if (line.length > LONGEST_LINE) return false;
  const letters = line.replace(/[^\p{Lu}\p{Ll}\p{Lo}\p{N}]+/gu, '');
  return letters.length <= WORD.length + FURTHEST_MISSPELLING && isNearly(letters);
}

const LONGEST_LINE = 200;
const NO_LETTERS = /[^\p{L}\p{M}\p{N}]+/u;
const LONGEST_QUOTE = 80;

function isNearly(word: string): boolean {
  if (word.toLowerCase().includes(WORD)) return true;
  if (Math.abs(word.length - WORD.length) > WORD.length) return false;
  const plain = [...word.normalize('NFKD').replace(/\p{M}/gu, '').toLowerCase()]
    .map((letter) => LOOK_ALIKES.get(letter) ?? letter)
    .join('');
  if (plain.includes(WORD)) return true;
  if (Math.abs(plain.length - WORD.length) > FURTHEST_MISSPELLING) return false;
  return editDistance(plain, WORD) <= FURTHEST_MISSPELLING;
}
