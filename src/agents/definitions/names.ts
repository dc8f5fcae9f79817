import { visible } from '../../lib/text/visible.js';
import { lookAlike } from '../../mcp/tools/names.js';
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
  if (visible(name) !== name || /\p{Default_Ignorable_Code_Point}/u.test(name)) {
    return `the name holds hidden characters: ${visible(name)}`;
  }
  // fail-closed: a letter that looks like another one makes two names read the same.
  const alike = PHONETIC.test(name) ? 'its name holds look-alikes of letters' : lookAlike(name);
  if (alike !== undefined) return `the name "${name}" cannot be used: ${alike}`;
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

/** Letters of the Latin script that hardly any language writes, and that look like plain ones. */
const PHONETIC = /[\u0237\u0251\u0261\u0269\u01c0-\u01c3]/u;

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
