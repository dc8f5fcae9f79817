import { visible } from '../../lib/visible.js';
import { lookAlike } from './name-scripts.js';

/** Types that the program itself gives out. */
export const RESERVED_TYPES: readonly string[] = ['fork', 'hook', 'hook-agent', 'main'];

const LONGEST_NAME = 128;
/** Nearly all names, at a glance. */
const PLAIN_NAME = /^(?![Mm][Cc][Pp]__)\w[\w-]{0,63}$/;
const RESERVED: ReadonlySet<string> = new Set(RESERVED_TYPES);

/** Of letters, digits, dashes and underscores, and nobody's own: fine as a type. */
export function isPlainType(name: string): boolean {
  return PLAIN_NAME.test(name) && !RESERVED.has(name.toLowerCase());
}

/**
 * Why a name cannot be an agent's type; undefined when it can. It stands in rules (`Agent(name)`),
 * in paths (`main/name#2`), in directories of memory and on terminals.
 */
export function typeProblem(name: string): string | undefined {
  if (isPlainType(name)) return undefined;
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
  return PLAIN_NAME.test(name) ? name.toLowerCase() : name.normalize('NFC').toLowerCase();
}
