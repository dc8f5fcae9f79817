import { visible } from '../../lib/text/visible.js';
import { lookAlike } from '../../mcp/tools/names.js';
import { basename } from '../../platform/fs/paths.js';

/** Types that the program itself assigns. */
const RESERVED_TYPES: readonly string[] = ['fork', 'hook', 'hook-agent', 'main'];

const LONGEST_NAME = 128;

/**
 * Why a name cannot be an agent type; undefined when it can. Names occur in rules (`Agent(name)`), in paths
 * (`main/name#2`), in memory directories and on terminals.
 */
export function typeProblem(name: string): string | undefined {
  if (name === '') return 'the name is empty';
  if (name.length > LONGEST_NAME) return `the name is longer than ${LONGEST_NAME} characters`;
  // fail-closed: hidden characters make two names look alike.
  if (visible(name) !== name || /\p{Default_Ignorable_Code_Point}/u.test(name)) {
    return `the name holds hidden characters: ${visible(name)}`;
  }
  // fail-closed: letters that resemble others make two names look alike.
  const alike = PHONETIC.test(name) ? 'its name holds look-alikes of letters' : lookAlike(name);
  if (alike !== undefined) return `the name "${name}" cannot be used: ${alike}`;
  // fail-closed: people cannot see how many blanks there are, and rules could name either form.
  if (/[^\S ]| {2}|^ | $/.test(name)) {
    return `the name "${name}" holds more than single blanks between words`;
  }
  if (/[()*,#?[\]{}!^]/.test(name)) return `the name "${name}" holds what has a meaning in rules`;
  if (/[:/\\<>"'`|$]/.test(name)) return `the name "${name}" holds what no type may hold`;
  if (name.startsWith('-')) return `the name "${name}" begins with a hyphen`;
  if (/^\.+$/.test(name)) return `the name "${name}" is a directory's`;
  if (/^mcp__/i.test(name)) return 'names that begin with mcp__ belong to servers';
  // fail-closed: a rule, a hook or a person would mistake it for the program's own type.
  if (RESERVED_TYPES.includes(name.toLowerCase())) return `the name "${name}" is kept for us`;
  return undefined;
}

/** The key that names differing only in case share, because rules ignore case. */
export function typeKey(name: string): string {
  return name.normalize('NFC').toLowerCase();
}

/** Rare Latin letters that look like common ones. */
const PHONETIC = /[\u0237\u0251\u0261\u0269\u01c0-\u01c3]/u;

/**
 * The type that an unreadable file would have defined: its first `name:`, else its file name. fail-closed:
 * a weaker definition must not take the place of one with restrictions.
 */
export function claimedName(file: string | undefined, text = ''): string | undefined {
  const written = NAME.exec(text.slice(0, MOST_LOOKED_AT))?.[1] ?? '';
  const bare = written.replace(/\s#.*$/, '').trim();
  const name = /^(["'])(.*)\1$/.exec(bare)?.[2] ?? bare;
  const stem = file === undefined ? '' : basename(file).replace(/\.md$/i, '');
  return [name, stem].map((one) => one.normalize('NFC')).find((one) => !typeProblem(one));
}

/** How much of a file that is too large is searched for its name. */
export const MOST_LOOKED_AT = 8 * 1024;

const NAME = /^[ \t]*["']?[Nn]ame["']?[ \t]*:[ \t]*([^\r\n]*)/m;
