import { visible } from '../../lib/text/visible.js';

const LONGEST_NAME = 256;

/** The prefix of MCP prompts, whose names a file must not imitate. */
const FOREIGN_PREFIX = /^mcp__/i;

/** Matches nearly all valid names quickly. */
const PLAIN_NAME = /^(?![Mm][Cc][Pp]__)[\w-]{1,64}$/;

/** Only letters, digits, dashes and underscores, so that Unicode forms do not matter. */
function isPlainName(name: string): boolean {
  return PLAIN_NAME.test(name);
}

/**
 * Why a directory or file name cannot be a skill's name; undefined when it can. Names occur in prompts, in
 * rules (`Skill(name *)`) and on terminals, and must mean the same in each.
 */
export function nameProblem(name: string): string | undefined {
  if (isPlainName(name)) return undefined;
  if (name === '') return 'its name is empty';
  if (name.length > LONGEST_NAME) return `its name is longer than ${LONGEST_NAME} characters`;
  if (/[<>]/.test(name)) return 'its name holds < or >';
  // fail-closed: hidden characters make two names look alike.
  if (visible(name) !== name) return `its name holds hidden characters: ${visible(name)}`;
  // fail-closed: `Skill(deploy *)` is a rule about one skill and its arguments.
  if (/\s/.test(name)) return 'its name holds blanks';
  if (/[()*,?[\]{}|^$]|^!/.test(name)) {
    return 'its name holds characters that have a meaning in rules or in other patterns';
  }
  // fail-closed: only the program creates `plugin:name` and `sub/dir:name`.
  if (/[:/\\]/.test(name)) return 'its name holds a colon, a slash or a backslash';
  if (FOREIGN_PREFIX.test(name)) return 'names that begin with mcp__ belong to MCP servers';
  return undefined;
}

/** The same for a command, in whose name colons separate folders. */
export function commandNameProblem(name: string): string | undefined {
  if (name.length > LONGEST_NAME) return nameProblem(name);
  for (const part of name.split(':')) {
    const problem = nameProblem(part);
    if (problem !== undefined) return part === '' ? 'its name has an empty part' : problem;
  }
  return undefined;
}

/** A typed name in stored form: no leading slash, normalised Unicode. */
export function asName(text: string): string {
  return text.trim().replace(/^\//, '').normalize('NFC');
}

/** The first of many names, and how many more there are. */
export function someNames(names: readonly string[], most: number): string {
  const first = names.slice(0, most).join(', ');
  return names.length > most ? `${first} and ${names.length - most} more` : first;
}

/** Text of a skill in one line, without characters that a model reads and a person does not see. */
export function oneLine(text: string): string {
  if (ONE_LINE.test(text)) return text;
  return text.replace(/\s+/g, ' ').replace(UNSEEN, '').trim();
}

export function removeInvisible(text: string): string {
  return text.replace(UNSEEN, '');
}

/** Visible ASCII with single blanks, which needs no change. */
const ONE_LINE = /^[!-~]+(?: [!-~]+)*$/;

/**
 * Controls, format characters, tags, private use, half surrogate pairs, and variation selectors that can
 * carry data.
 */
const UNSEEN = /[\p{Cc}\p{Cf}\p{Co}\p{Cs}]|[\u{e0100}-\u{e01ef}]/gu;
