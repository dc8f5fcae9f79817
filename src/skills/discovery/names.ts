import { visible } from '../../lib/text/visible.js';

const LONGEST_NAME = 256;

/** Names of MCP prompts; a file that took one would speak in a server's place. */
const FOREIGN_PREFIX = /^mcp__/i;

/** Nearly all names, at a glance. */
const PLAIN_NAME = /^(?![Mm][Cc][Pp]__)[\w-]{1,64}$/;

/** Of letters, digits, dashes and underscores: fine as a name, and the same in every form of Unicode. */
export function isPlainName(name: string): boolean {
  return PLAIN_NAME.test(name);
}

/**
 * Why a directory or file name cannot be what a skill is called by; undefined when it can. Stands
 * in prompts, in rules (`Skill(name *)`) and on a terminal, and must mean the same thing in each.
 */
export function nameProblem(name: string): string | undefined {
  if (isPlainName(name)) return undefined;
  if (name === '') return 'its name is empty';
  if (name.length > LONGEST_NAME) return `its name is longer than ${LONGEST_NAME} characters`;
  if (/[<>]/.test(name)) return 'its name holds < or >';
  // fail-closed: what cannot be seen makes two names look like one.
  if (visible(name) !== name) return `its name holds hidden characters: ${visible(name)}`;
  // fail-closed: `Skill(deploy *)` is a rule about one skill and its arguments.
  if (/\s/.test(name)) return 'its name holds blanks';
  if (/[()*,?[\]{}|^$]|^!/.test(name)) {
    return 'its name holds characters that have a meaning in rules or in other patterns';
  }
  // fail-closed: `plugin:name` and `sub/dir:name` are given out by us alone.
  if (/[:/\\]/.test(name)) return 'its name holds a colon, a slash or a backslash';
  if (FOREIGN_PREFIX.test(name)) return 'names that begin with mcp__ belong to MCP servers';
  return undefined;
}

/** The same of a command, in whose name colons stand for folders. */
export function commandNameProblem(name: string): string | undefined {
  if (name.length > LONGEST_NAME) return nameProblem(name);
  for (const part of name.split(':')) {
    const problem = nameProblem(part);
    if (problem !== undefined) return part === '' ? 'its name has an empty part' : problem;
  }
  return undefined;
}

/** What a person or a model wrote, as names are kept: no leading slash, one form of Unicode. */
export function asName(text: string): string {
  return text.trim().replace(/^\//, '').normalize('NFC');
}

/** The first of many names, and how many more there are. */
export function someNames(names: readonly string[], most: number): string {
  const first = names.slice(0, most).join(', ');
  return names.length > most ? `${first} and ${names.length - most} more` : first;
}

/** Text of a skill in one line, without what a model reads and a person does not see. */
export function oneLine(text: string): string {
  if (ONE_LINE.test(text)) return text;
  return text.replace(/\s+/g, ' ').replace(UNSEEN, '').trim();
}

/** Without what a person does not see. */
export function withoutUnseen(text: string): string {
  return text.replace(UNSEEN, '');
}

/** Visible ASCII with single blanks: nothing to do. */
const ONE_LINE = /^[!-~]+(?: [!-~]+)*$/;

/** Controls, format characters, tags, private use, half pairs, and the selectors that can carry data. */
const UNSEEN = /[\p{Cc}\p{Cf}\p{Co}\p{Cs}]|[\u{e0100}-\u{e01ef}]/gu;
