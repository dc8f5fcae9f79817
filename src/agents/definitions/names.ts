import { visible } from '../../lib/visible.js';
import { basename } from '../../platform/fs/paths.js';

/** Types that the program itself gives out. */
export const RESERVED_TYPES: readonly string[] = ['fork', 'hook', 'hook-agent', 'main'];

const LONGEST_NAME = 128;

/**
 * Why a name cannot be an agent's type; undefined when it can. It stands in rules (`Agent(name)`),
 * in paths (`main/name#2`), in directories of memory and on terminals.
 */
export function typeProblem(name: string): string | undefined {
  if (name === '') return 'the name is empty';
  if (name.length > LONGEST_NAME) return `the name is longer than ${LONGEST_NAME} characters`;
  // fail-closed: what cannot be seen makes two names look like one.
  if (visible(name) !== name) return `the name holds hidden characters: ${visible(name)}`;
  const alike = lookAlike(name);
  if (alike !== undefined) return `the name "${name}" ${alike}`;
  // fail-closed: such blanks are not told apart from one by people, and rules may name either.
  if (/[^\S ]| {2}|^ | $/.test(name)) {
    return `the name "${name}" holds more than single blanks between words`;
  }
  if (/[()*,#?[\]{}!^]/.test(name)) return `the name "${name}" holds what has a meaning in rules`;
  if (/[:/\\<>"'`|$]/.test(name)) return `the name "${name}" holds what no type may hold`;
  if (name.startsWith('-')) return `the name "${name}" begins with a hyphen`;
  if (/^\.+$/.test(name)) return `the name "${name}" is a directory's`;
  if (/^mcp__/i.test(name)) return 'names that begin with mcp__ belong to servers';
  // fail-closed: a rule, a hook or a person would take it for the program's own.
  if (RESERVED_TYPES.includes(name.toLowerCase())) return `the name "${name}" is kept for us`;
  return undefined;
}

/** What two names have in common that differ in case alone: rules do not tell those apart. */
export function typeKey(name: string): string {
  return name.normalize('NFC').toLowerCase();
}

/** Why a name may be taken for another that people read the same; undefined: it is what it looks like. */
export function lookAlike(name: string): string | undefined {
  if (/^[ -~]*$/.test(name)) return undefined;
  const unseen = /\p{Default_Ignorable_Code_Point}/u.exec(name)?.[0];
  // fail-closed: it is not shown, so that two names look like one.
  if (unseen !== undefined) return `holds a character that is not shown (${codeOf(unseen)})`;
  const plain = name.normalize('NFKC');
  // fail-closed: wide, small and mathematical forms of letters read like the letters themselves.
  if (plain !== name.normalize('NFC')) return `holds other forms of letters; write "${plain}"`;
  const odd = PHONETIC.exec(name)?.[0];
  if (odd !== undefined) return `holds "${odd}" (${codeOf(odd)}), which reads like another letter`;
  const scripts = scriptsOf(name);
  if (scripts.size < 2 || WRITTEN_TOGETHER.some((known) => isWithin(scripts, known))) {
    return undefined;
  }
  // fail-closed: a letter among those of another script is there to be taken for one of them.
  const found = [...scripts].map(
    ([script, letter]) => `${script} ("${letter}", ${codeOf(letter)})`,
  );
  return `mixes letters of several scripts: ${found.join(', ')}; write it in one`;
}

/** Letters of the Latin script that hardly any language writes, and that look like plain ones. */
const PHONETIC = /[\u0237\u0251\u0261\u0269\u01c0-\u01c3]/u;

const SCRIPTS = [
  'Latin Cyrillic Greek Armenian Hebrew Arabic Devanagari Thai Georgian Hangul Han Hiragana',
  'Katakana Bopomofo Bengali Gurmukhi Gujarati Oriya Tamil Telugu Kannada Malayalam Sinhala',
  'Lao Khmer Myanmar Tibetan Mongolian Ethiopic Cherokee Coptic Canadian_Aboriginal',
].flatMap((names) => names.split(' '));

/** What people write in one word, next to Latin letters too. */
const WRITTEN_TOGETHER: readonly (readonly string[])[] = [
  ['Latin', 'Han', 'Hiragana', 'Katakana'],
  ['Latin', 'Han', 'Hangul'],
  ['Latin', 'Han', 'Bopomofo'],
];

/** Each script in a name with its first letter. All that are not listed count as one more. */
function scriptsOf(name: string): ReadonlyMap<string, string> {
  const found = new Map<string, string>();
  for (const letter of name) {
    if (!/\p{L}/u.test(letter) || /\p{Script=Common}|\p{Script=Inherited}/u.test(letter)) continue;
    const script =
      SCRIPTS.find((one) => new RegExp(`\\p{Script=${one}}`, 'u').test(letter)) ?? 'another script';
    if (!found.has(script)) found.set(script, letter);
  }
  return found;
}

function isWithin(scripts: ReadonlyMap<string, string>, known: readonly string[]): boolean {
  return [...scripts.keys()].every((script) => known.includes(script));
}

function codeOf(character: string): string {
  return `U+${(character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0')}`;
}

/**
 * The type that a file which cannot be read would have defined: by the first `name:` that stands in it,
 * else by its own name. fail-closed: so that nothing weaker takes the place of what it was to limit.
 */
export function claimedName(file: string | undefined, text = ''): string | undefined {
  const written = NAME.exec(text.slice(0, MOST_LOOKED_AT))?.[1] ?? '';
  const bare = written.replace(/\s#.*$/, '').trim();
  const name = /^(["'])(.*)\1$/.exec(bare)?.[2] ?? bare;
  const stem = file === undefined ? '' : basename(file).replace(/\.md$/i, '');
  return [name, stem].map((one) => one.normalize('NFC')).find((one) => !typeProblem(one));
}

/** The beginning of a file that is too large to be read. */
export const MOST_LOOKED_AT = 8 * 1024;

const NAME = /^[ \t]*["']?[Nn]ame["']?[ \t]*:[ \t]*([^\r\n]*)/m;
