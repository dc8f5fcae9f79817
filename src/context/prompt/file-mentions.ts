import { MOST_NAMES, proseIn, withoutSentenceEnd } from '../instructions/includes.js';

/** What a name with an `@` in a prompt can mean. */
export interface Meaning {
  readonly name: string;
  /** From 1, both included. */
  readonly lines?: { readonly from: number; readonly to: number };
}

export interface FileMention {
  /** Its text in the prompt. */
  readonly written: string;
  /** The likeliest first. */
  readonly meanings: readonly Meaning[];
  readonly isQuoted: boolean;
  /** It stands for many names, which are not looked for. */
  readonly isPattern?: true;
}

/** One more than is looked up, so that the lookup sees that there are too many. */
const MOST_MENTIONS = MOST_NAMES + 1;
/** Characters of a name. */
const LONGEST = 1_024;

/** Scripts without blanks between words: there a name may stand directly behind a letter. */
const UNPARTED = '\\p{Script=Han}\\p{Script=Hiragana}\\p{Script=Katakana}';
/** Signs behind which a name may begin: brackets, quotes, and what parts words. */
const BEFORE = '([{<"\'“‘«„,;:=|>*—–…、。，：；！？（「『';
/** Signs that no name has that is not quoted. The last of them end sentences of scripts without blanks. */
const NO_PART = '\\u0000-\\u001f"<>|`，。、；：！？（）【】「」『』《》';
const NAMED = new RegExp(
  [
    `(?<=^|[\\s${escaped(BEFORE)}${UNPARTED}])@(?:`,
    `"(?<quoted>[^"\\n]{1,${LONGEST}})"`,
    // A word ends where the next name begins.
    `|(?<word>(?:\\\\ |(?![${escaped(BEFORE)}]@|(?<=[${UNPARTED}])@)[^\\s${NO_PART}])+))`,
  ].join(''),
  'gu',
);

function escaped(signs: string): string {
  return signs.replace(/[[\]\\^-]/g, '\\$&');
}

/**
 * The names with an `@` in what a person typed, in order, each once: `@path`, `@"path with blanks"`,
 * `@path#L10-20`. Not those in code, comments and addresses of links. Whether there is a file of that
 * name is for others to find out: mostly it is a word.
 */
export function fileMentions(text: string): readonly FileMention[] {
  const found = new Map<string, FileMention>();
  for (const prose of proseIn(text, { typed: true })) {
    for (const { 0: written, index, groups = {} } of prose.matchAll(NAMED)) {
      if (found.has(written)) continue;
      const { quoted, word = '' } = groups;
      const mention =
        quoted === undefined
          ? mentionOf(word, { isStressed: prose[index - 1] === '*' })
          : { meanings: meaningsOf([quoted]), isQuoted: true };
      if (mention === undefined || mention.meanings.length === 0) continue;
      found.set(written, { written, ...mention });
      if (found.size >= MOST_MENTIONS) return [...found.values()];
    }
  }
  return [...found.values()];
}

/** For each thing that may be meant, by name and lines. */
export function keyOf({ name, lines }: Meaning): string {
  return JSON.stringify([name, lines]);
}

function mentionOf(
  word: string,
  { isStressed }: { readonly isStressed: boolean },
): Omit<FileMention, 'written'> | undefined {
  // An address of a server's resource.
  if (word.includes('://')) return undefined;
  const [cut = ''] = word.split(/[*?]/, 1);
  if (cut.length > LONGEST) return undefined;
  const rest = word.slice(cut.length, LONGEST);
  const isAll = rest.startsWith('*') && cut.endsWith('/') && !isStressed;
  if (isAll || /^[*?]+[\p{L}\p{N}/._[{-]/u.test(rest)) {
    const name = `${cut}${rest}`.replace(/[.,;:!?)\]}'"»”’]+$/, '');
    return { meanings: [{ name }], isQuoted: false, isPattern: true };
  }
  const whole = cut.replaceAll('\\ ', ' ');
  const trimmed = withoutSentenceEnd(whole);
  const [owner = ''] = whole.split(/['’]/, 1);
  const meanings = meaningsOf([whole, trimmed, owner, withoutLetters(trimmed)]);
  return { meanings, isQuoted: false };
}

/** The sentence may go on directly behind a name. A folder that is left of a name is not meant. */
function withoutLetters(name: string): string {
  const left = name.replace(
    /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}]+$/u,
    '',
  );
  return left.endsWith('/') ? name : left;
}

/** A file may be named like lines of another one; what behind the `#` says no lines may be a heading. */
function meaningsOf(names: readonly string[]): readonly Meaning[] {
  const ranged = names.flatMap(rangedName);
  const bare = names
    .map((name) => ({ name: name.split('#', 1)[0] ?? '' }))
    .filter(({ name }) => ranged.every((one) => one.name !== name));
  const all = [...names.map((name) => ({ name })), ...ranged, ...bare];
  const once = new Map<string, Meaning>(all.map((meaning) => [keyOf(meaning), meaning]));
  return [...once.values()].filter(({ name }) => PLACE.test(name));
}

function rangedName(name: string): readonly Required<Meaning>[] {
  const [, path = '', first, last = first] =
    /^([^#]*)#L?(\d{1,9})(?:-L?(\d{1,9}))?$/.exec(name) ?? [];
  if (first === undefined) return [];
  const ends = [Math.max(1, Number(first)), Math.max(1, Number(last))];
  return [{ name: path, lines: { from: Math.min(...ends), to: Math.max(...ends) } }];
}

/** Without a letter or digit it is a sign of the sentence, unless it says that it is a directory. */
const PLACE = /^(?!@).*[\p{L}\p{N}_]|^(?:\.{1,2}|~)\/$/u;
