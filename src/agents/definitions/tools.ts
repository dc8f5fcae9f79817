import { canonicalName, listOf } from '../../lib/frontmatter/fields.js';
import { own } from '../../lib/own.js';
import { nearest } from '../../lib/text/nearest.js';
import { TOOL_ALIASES } from '../../lib/tool-names.js';
import { resolveRuleName } from '../../permissions/rules/names.js';
import { RULE_TOOLS } from '../../permissions/rules/tools.js';
import { createToolMatcher } from '../../tools/pool-patterns.js';
import type { FieldContext } from './definition.js';

export const AGENT_TOOL = 'Agent';

/** Tools that definitions may name: those that rules may name. */
export const KNOWN_TOOLS: readonly string[] = Object.keys(RULE_TOOLS);

const MOST_ENTRIES = 500;
const MOST_UNKNOWN_BANS = 50;
const MOST_HINTS = 10;

const ENTRY = /^(?:\*|[A-Za-z_][\w.*-]*(?:\(.*\))?)$/s;

type Context = Pick<FieldContext, 'knownTools' | 'error' | 'warn'>;

/** Reads `tools`: an empty list gives none, `*` gives all. */
export function readTools(value: unknown, context: Context): readonly string[] | undefined {
  const { knownTools, error, warn } = context;
  // fail-closed: an empty value could mean all tools or none.
  const blank = 'says nothing: write [] for no tools, "*" for all, or leave the field out';
  const entries = entriesOf(value, blank);
  if (typeof entries === 'string') return error(`"tools" ${entries}`);
  const odd = entries.filter((item) => !ENTRY.test(item));
  const items = entries.filter((item) => ENTRY.test(item));
  if (items.includes('*')) {
    // fail-closed: an unknown entry beside `*` was probably meant to exclude something.
    if (odd[0] !== undefined) {
      return error(`"tools" holds "*" and "${odd[0]}", which is no name of a tool`);
    }
    return items.length > 1
      ? warn('"tools" names "*", so the other names mean nothing')
      : undefined;
  }
  const unknown = [...odd, ...items.map(bareName).filter((name) => !isKnown(name, knownTools))];
  if (unknown.length > 0 && unknown.length === entries.length) {
    warn('it has no tools: none of those that "tools" names is known here', { told: true });
  }
  for (const name of unknown.slice(0, MOST_HINTS)) {
    const close = nearest(name, knownTools);
    const hint = close === undefined ? '' : `; did you mean ${close}?`;
    warn(`"tools" names ${name}, which is no tool that is known here and gives nothing${hint}`);
  }
  const more = unknown.length - MOST_HINTS;
  if (more > 0) warn(`"tools" names ${more} more that are not known here`);
  return [...new Set(items)];
}

/**
 * Reads `disallowedTools`. fail-closed: a misspelt tool would ban nothing, so it is an error; a tool of
 * other programs gets a warning.
 */
export function readBans(value: unknown, context: Context): readonly string[] | undefined {
  const { knownTools, warn } = context;
  const error = (why: string): undefined => context.error(`"disallowedTools" ${why}`);
  const blank = 'says nothing: write [] to take nothing away, or leave the field out';
  const items = entriesOf(value, blank);
  if (typeof items === 'string') return error(items);
  const odd = items.find((item) => !ENTRY.test(item));
  if (odd !== undefined) return error(`holds "${odd}", which is no name of a tool`);
  if (Array.isArray(value) && items.length < value.length) {
    return error('holds an entry that is empty: name a tool, or leave it out');
  }
  const entries = items.map(asToolsAreNamed);
  const unknown = entries
    .map(bareName)
    .filter((name) => name !== '*' && !isKnown(name, knownTools));
  // Each is compared with every known tool, so a file could make that slow.
  if (unknown.length > MOST_UNKNOWN_BANS) {
    return error(`names more than ${MOST_UNKNOWN_BANS} tools that are not known here`);
  }
  for (const name of unknown) {
    const close = isOfServers(name) ? undefined : toolMeant(name, knownTools);
    if (close !== undefined) return error(`names ${name}; did you mean ${close}?`);
    const why = impossible(name, knownTools);
    if (why !== undefined) return error(`names ${name}: ${why}`);
  }
  for (const name of unknown.slice(0, MOST_HINTS)) {
    warn(`"disallowedTools" names ${name}, which takes nothing away: no tool has that name`);
  }
  return [...new Set(entries)];
}

/** The entries of a list, or an error text. */
function entriesOf(value: unknown, blank: string): readonly string[] | string {
  const isBlank = typeof value === 'string' && value.trim() === '';
  if (value === null || value === undefined || isBlank) return blank;
  const items = listOf(value);
  if (!items.ok) return items.error;
  // fail-closed: an excessive list is refused instead of processed.
  if (items.value.length > MOST_ENTRIES) return `has more than ${MOST_ENTRIES} entries`;
  const hollow = items.value.find(isHollow);
  if (hollow === undefined) return items.value;
  // fail-closed: rules would read it as the whole tool, where a restriction was intended.
  return `holds "${hollow}", whose parentheses name nothing: write ${bareName(hollow)} for all of it`;
}

/** Finds `Bash()` and `Agent(a, )`: an empty restriction in the parentheses. */
function isHollow(entry: string): boolean {
  const name = bareName(entry);
  if (name === entry) return false;
  const inside = entry.slice(name.length + 1, -1);
  const parts = toolOf(entry) === AGENT_TOOL ? inside.split(',') : [inside];
  return parts.some((part) => part.trim() === '');
}

/** `Bash` of `Bash(git *)`. */
export function bareName(entry: string): string {
  const open = entry.indexOf('(');
  return open === -1 ? entry : entry.slice(0, open);
}

/** The tool that an entry names, by its current name. */
export function toolOf(entry: string): string {
  const name = bareName(entry);
  return own(TOOL_ALIASES, name) ?? name;
}

function isKnown(name: string, knownTools: readonly string[]): boolean {
  if (isOfServers(name)) {
    return !name.includes('.') && impossible(name, knownTools) === undefined;
  }
  if (knownTools.includes(name) || Object.hasOwn(TOOL_ALIASES, name)) return true;
  const matches = name.includes('*') ? createToolMatcher([name]) : undefined;
  return matches !== undefined && (matches(['mcp__']) || knownTools.some((one) => matches([one])));
}

/** `mcp__server`, `mcp__server__tool`, `mcp__*`. */
function isOfServers(name: string): boolean {
  return name.startsWith('mcp__');
}

/** A ban may spell a server with dots, which tool names replace by underscores. */
function asToolsAreNamed(entry: string): string {
  if (!isOfServers(entry)) return entry;
  const name = bareName(entry);
  return `${name.replaceAll('.', '_')}${entry.slice(name.length)}`;
}

/** Why no tool can have this name, which would also be an error in a rule; undefined when one can. */
function impossible(name: string, knownTools: readonly string[]): string | undefined {
  const read = resolveRuleName(name, { kind: 'deny', scoped: false, knownTools });
  return 'why' in read ? `${read.why}. ${read.remedy.replace(/\.$/, '')}` : undefined;
}

/** The most likely tool behind an unknown name. */
function toolMeant(name: string, knownTools: readonly string[]): string | undefined {
  if (/^mcp/i.test(name)) return 'mcp__server, mcp__server__tool or mcp__*';
  const close = nearest(name, knownTools);
  if (close !== undefined) return close;
  const word = canonicalName(name).replace(/tools?$/, '');
  const isMeant = ([, words]: readonly [string, string]) => words.split(' ').includes(word);
  return (
    knownTools.find((one) => canonicalName(one) === word) ??
    Object.entries(OTHER_NAMES).find(isMeant)?.[0]
  );
}

/** Names of our tools in other programs and in everyday use. */
const OTHER_NAMES: Readonly<Record<string, string>> = {
  Bash: 'shell sh zsh terminal console command commands cmd exec execute run runcommand runshellcommand runterminalcmd executecommand delete',
  PowerShell: 'pwsh',
  WebFetch: 'fetch http curl browser',
  'WebFetch, WebSearch': 'web network internet',
  'Grep, WebSearch': 'search',
  Glob: 'find',
  Read: 'view cat readfile',
  'Read, Edit, Write': 'file files',
  Write: 'create writefile',
  Edit: 'patch applypatch replace strreplace editor editfile',
  NotebookEdit: 'notebook',
  Agent: 'subagent subagents delegate spawn',
};
