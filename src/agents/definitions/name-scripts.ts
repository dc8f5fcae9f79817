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
  'Latin',
  'Cyrillic',
  'Greek',
  'Armenian',
  'Hebrew',
  'Arabic',
  'Devanagari',
  'Thai',
  'Georgian',
  'Hangul',
  'Han',
  'Hiragana',
  'Katakana',
  'Bopomofo',
  'Bengali',
  'Gurmukhi',
  'Gujarati',
  'Oriya',
  'Tamil',
  'Telugu',
  'Kannada',
  'Malayalam',
  'Sinhala',
  'Lao',
  'Khmer',
  'Myanmar',
  'Tibetan',
  'Mongolian',
  'Ethiopic',
  'Cherokee',
  'Coptic',
  'Canadian_Aboriginal',
] as const;

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
