import { canonicalName } from '../../lib/frontmatter/fields.js';
import { headGroups, splitFile } from '../../lib/frontmatter/head-text.js';
import { embeddedCommands } from '../../lib/text/embedded-commands.js';
import { sha256 } from '../../platform/hash.js';
import type { DeclarationKind, TrustItem } from './types.js';

/** Extracts the declarations of a skill, command or agent file; `label` is its display name. */
export type DocumentItems = (text: string, label: string) => readonly TrustItem[];

/** The granting fields and shell commands of a skill or command. */
export const skillItems: DocumentItems = (text, label) => [
  ...fieldItems(text, label, SKILL_FIELDS),
  ...shellItems(text, label),
];

/** The granting fields of an agent file. */
export const agentItems: DocumentItems = (text, label) => fieldItems(text, label, AGENT_FIELDS);

/** Without `portcullis`, which can only restrict a skill. */
const SKILL_FIELDS: ReadonlyMap<string, DeclarationKind> = new Map([
  ['hooks', 'hook'],
  ['allowedtools', 'skill grant'],
  ['model', 'skill grant'],
  ['effort', 'skill grant'],
  ['tools', 'skill grant'],
  ['permissionmode', 'skill grant'],
  ['mcpservers', 'skill grant'],
]);

const AGENT_FIELDS: ReadonlyMap<string, DeclarationKind> = new Map([
  ['hooks', 'hook'],
  ['mcpservers', 'MCP server'],
  ['tools', 'agent grant'],
  ['allowedtools', 'agent grant'],
  ['permissionmode', 'agent grant'],
  ['memory', 'agent grant'],
  ['portcullis', 'agent grant'],
]);

function fieldItems(
  text: string,
  label: string,
  kinds: ReadonlyMap<string, DeclarationKind>,
): readonly TrustItem[] {
  const { fields, unread } = readFrontmatter(text);
  if (unread !== undefined) {
    // fail-closed: unparsable front matter may declare anything.
    const name = `${label}, frontmatter`;
    const item = { name, text: unread, path: ['---'], value: unread, line: 1, runs: [unread] };
    return [{ kind: 'unreadable', ...item }];
  }
  return fields.flatMap(({ name, text: value, line }) => {
    const kind = kinds.get(canonicalName(name));
    if (kind === undefined) return [];
    const item = { name: `${label}, ${name}`, text: value, path: [name], value, line };
    return [{ kind, ...item, runs: [value] }];
  });
}

/** More than a person would review and a skill needs. */
const MAX_COMMANDS = 200;

/** fail-closed: counts every command in the text, even an unclosed one that would not run. */
function shellItems(text: string, label: string): readonly TrustItem[] {
  const { body, bodyLine } = splitFile(text);
  const commands = embeddedCommands(body);
  if (commands.length > MAX_COMMANDS) {
    const about = `${commands.length} commands, more than are looked at`;
    const item = { name: `${label}, commands`, text: about, path: ['shell'], value: sha256(body) };
    // fail-closed: the commands were not examined individually, so trust in them is not stored.
    return [{ kind: 'unreadable', ...item, line: bodyLine, runs: [], pinned: false }];
  }
  let line = bodyLine;
  let counted = 0;
  return commands.map(({ start, from, to }) => {
    const command = body.slice(from, to).trim();
    line += body.slice(counted, start).split('\n').length - 1;
    counted = start;
    const item = { name: label, text: command, path: ['shell'], value: command };
    return { kind: 'skill shell', ...item, line, runs: [command] };
  });
}

interface Field {
  readonly name: string;
  /** The raw lines, because blanks and empty lines matter in YAML. */
  readonly text: string;
  readonly line: number;
}

/**
 * The top-level front matter fields as text. Not a YAML parser: it must not miss a field, so it returns
 * anything but a plain field list as `unread`.
 */
function readFrontmatter(text: string): {
  readonly fields: readonly Field[];
  readonly unread?: string;
} {
  const split = splitFile(text);
  const { lines } = split;
  if (lines === undefined) {
    // Without its end, front matter and body cannot be separated.
    return { fields: [], unread: split.problem === undefined ? undefined : split.body.trim() };
  }
  const { groups, unparsed } = headGroups(split);
  if (unparsed.length > 0 || lines.some((line) => INDIRECT.test(line))) {
    return { fields: [], unread: lines.join('\n').trim() };
  }
  const fields = groups.map(({ key, rest, lines: below, line }) => ({
    name: key,
    text: withoutOuterBlankLines([rest, ...below]),
    line,
  }));
  return { fields };
}

/** An anchor, alias, tag or merge key, which changes how values are parsed. */
const INDIRECT = /^[ \t]*(?:- +)*(?:[\w-]+: +|<<: +)?(?:[&*][\w-]|!+[\w<]|\? )/;

function withoutOuterBlankLines(lines: readonly string[]): string {
  const isFilled = (line: string): boolean => line.trim() !== '';
  const from = lines.findIndex(isFilled);
  return from === -1 ? '' : lines.slice(from, lines.findLastIndex(isFilled) + 1).join('\n');
}
