import { proseIn } from './includes.js';
import { MOST_NAMES, withoutSentenceEnd } from './named-files.js';

/** What a name with an `@` in a prompt can mean. */
export interface Meaning {
  readonly name: string;
  /** From 1, both included. */
  readonly lines?: { readonly from: number; readonly to: number };
}

export interface FileMention {
  /** As it stands in the prompt. */
  readonly written: string;
  /** The likeliest first. */
  readonly meanings: readonly Meaning[];
  readonly isQuoted: boolean;
}

/** One more than is looked up: whoever looks them up sees that there are too many. */
const MOST_MENTIONS = MOST_NAMES + 1;
const LONGEST = 1_024;

/**
 * `@` at the beginning of a word, in brackets or quotes or behind a sign that parts words. Scripts
 * without blanks between words have it behind a letter.
 */
const BEGINS =
  /(?<=^|[\s([{<"'“‘«„,;:=|>*—–…]|[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}、。，：；！？（「『])@/u;
const NAMED = new RegExp(
  `${BEGINS.source}(?:"(?<quoted>[^"\\n]{1,${LONGEST}})"|(?<word>(?:\\\\ |(?![,;]@)\\S)+))`,
  'gu',
);

/**
 * The names with an `@` in what a person typed, in order, each once: `@path`, `@"path with blanks"`,
 * `@path#L10-20`. Not those in code, comments and addresses of links. Whether there is a file of that
 * name is for others to find out: mostly it is a word.
 */
export function fileMentions(text: string): readonly FileMention[] {
  const found = new Map<string, FileMention>();
  for (const prose of proseIn(text, { indented: true })) {
    for (const { 0: match, groups = {} } of prose.matchAll(NAMED)) {
      const { quoted, word = '' } = groups;
      // Code and links have been taken out behind it.
      const [written = ''] = match.split('`', 1);
      if (written.length > LONGEST || found.has(written)) continue;
      const meanings = quoted === undefined ? meaningsOf(word) : withLines(quoted);
      if (meanings.length === 0) continue;
      found.set(written, { written, meanings, isQuoted: quoted !== undefined });
      if (found.size >= MOST_MENTIONS) return [...found.values()];
    }
  }
  return [...found.values()];
}

/** Signs that no name has that is not quoted; the last of them end sentences of scripts without blanks. */
const NO_PART = /[\u0000-\u001f"<>|*?`，。、；：！？（）【】「」『』《》]/u;

function meaningsOf(word: string): readonly Meaning[] {
  // An address of a server's resource.
  if (word.includes('://')) return [];
  const [cut = ''] = word.split(NO_PART, 1);
  const whole = cut.replaceAll('\\ ', ' ');
  const [owner = ''] = whole.split(/['’]/, 1);
  return [...new Set([whole, withoutSentenceEnd(whole), owner])].flatMap(withLines);
}

function withLines(name: string): readonly Meaning[] {
  const meanings: Meaning[] = [{ name }];
  const [path = ''] = name.split('#', 1);
  if (path !== name) {
    const [, first, last = first] =
      /^#L?(\d{1,9})(?:-L?(\d{1,9}))?$/.exec(name.slice(path.length)) ?? [];
    const ends = [Math.max(1, Number(first)), Math.max(1, Number(last))];
    meanings.push(
      first === undefined
        ? { name: path }
        : { name: path, lines: { from: Math.min(...ends), to: Math.max(...ends) } },
    );
  }
  return meanings.filter((meaning) => PLACE.test(meaning.name));
}

/** Without a letter or digit it is a sign of the sentence, unless it says that it is a directory. */
const PLACE = /^(?!@).*[\p{L}\p{N}_]|^(?:\.{1,2}|~)\/$/u;
