import { canonicalName } from '../../lib/field-names.js';
import { listOf } from '../../lib/field-values.js';
import { nearest } from '../../lib/nearest.js';
import { own } from '../../lib/own.js';
import { err, ok, type Result } from '../../lib/result.js';
import { TOOL_ALIASES } from '../../lib/tool-names.js';
import { resolveRuleName } from '../../permissions/rules/names.js';
import { RULE_TOOLS } from '../../permissions/rules/tools.js';
import { createToolMatcher } from '../../tools/pool-patterns.js';

/** The tool that starts agents. */
export const AGENT_TOOL = 'Agent';

/** What rules may name, definitions may. */
export const KNOWN_TOOLS: readonly string[] = Object.keys(RULE_TOOLS);

export interface ToolList {
  /** Undefined: all that subagents may have. */
  readonly tools: readonly string[] | undefined;
  readonly warnings: readonly string[];
  /** Tools are named, and none of them is known. */
  readonly isBare?: true;
}

/** `tools`: nothing named is nothing given; `*` is everything. */
export function toolsOf(value: unknown, knownTools: readonly string[]): Result<ToolList, string> {
  if (isBlank(value)) {
    // fail-closed: left open it could mean all as well as nothing.
    return err('says nothing: write [] for no tools, "*" for all, or leave the field out');
  }
  const read = entriesOf(value);
  if (!read.ok) return read;
  const odd = read.value.filter((item) => !ENTRY.test(item));
  const items = read.value.filter((item) => ENTRY.test(item));
  if (items.includes('*')) {
    // fail-closed: beside everything it can only be meant to take something away.
    if (odd[0] !== undefined) return err(`holds "*" and "${odd[0]}", which is no name of a tool`);
    const warnings = items.length > 1 ? ['"tools" names "*", so the other names mean nothing'] : [];
    return ok({ tools: undefined, warnings });
  }
  const unknown = [...odd, ...items.map(bareName).filter((name) => !isKnown(name, knownTools))];
  const warnings = unknown.slice(0, MOST_HINTS).map((name) => {
    const close = nearest(name, knownTools);
    const hint = close === undefined ? '' : `; did you mean ${close}?`;
    return `"tools" names ${name}, which is no tool that is known here and gives nothing${hint}`;
  });
  const more = unknown.length - warnings.length;
  if (more > 0) warnings.push(`"tools" names ${more} more that are not known here`);
  const isBare = unknown.length > 0 && unknown.length === read.value.length;
  return ok({ tools: [...new Set(items)], warnings, ...(isBare ? { isBare } : {}) });
}

export interface BanList {
  readonly bans: readonly string[];
  readonly warnings: readonly string[];
}

/**
 * `disallowedTools`. One that was meant for a tool that there is and names another would ban nothing; one
 * of a tool that only others have is told.
 */
export function bansOf(value: unknown, knownTools: readonly string[]): Result<BanList, string> {
  if (isBlank(value)) {
    // fail-closed: whatever was to stand here is not taken away.
    return err('says nothing: write [] to take nothing away, or leave the field out');
  }
  const read = entriesOf(value);
  if (!read.ok) return read;
  const odd = read.value.find((item) => !ENTRY.test(item));
  // fail-closed: the entry cannot be read, so the tool it was meant to remove is unknown.
  if (odd !== undefined) return err(`holds "${odd}", which is no name of a tool`);
  if (Array.isArray(value) && read.value.length < value.length) {
    return err('holds an entry that is empty: name a tool, or leave it out');
  }
  const entries = read.value.map(asToolsAreNamed);
  const names = entries.map(bareName);
  // fail-closed: no tool of any server can be meant, and somebody relies on the ban.
  for (const name of names.filter(isOfServers)) {
    const why = impossible(name, knownTools);
    if (why !== undefined) return err(`names ${name}: ${why}`);
  }
  const unknown = names.filter((name) => name !== '*' && !isKnown(name, knownTools));
  // fail-closed: each is compared with every tool, and a file may not make that take long.
  if (unknown.length > MOST_UNKNOWN_BANS) {
    return err(`names more than ${MOST_UNKNOWN_BANS} tools that are not known here`);
  }
  for (const name of unknown) {
    const close = toolMeant(name, knownTools);
    // fail-closed: it takes away nothing, and was meant to.
    if (close !== undefined) return err(`names ${name}; did you mean ${close}?`);
    const why = impossible(name, knownTools);
    if (why !== undefined) return err(`names ${name}: ${why}`);
  }
  const warnings = unknown
    .slice(0, MOST_HINTS)
    .map(
      (name) => `"disallowedTools" names ${name}, which takes nothing away: no tool has that name`,
    );
  return ok({ bans: [...new Set(entries)], warnings });
}

const MOST_ENTRIES = 500;
const MOST_UNKNOWN_BANS = 50;
const MOST_HINTS = 10;

const ENTRY = /^(?:\*|[A-Za-z_][\w.*-]*(?:\(.*\))?)$/s;

function entriesOf(value: unknown): Result<readonly string[], string> {
  const items = listOf(value);
  if (!items.ok) return items;
  // fail-closed: a list that nobody wrote by hand is not gone through.
  if (items.value.length > MOST_ENTRIES) return err(`has more than ${MOST_ENTRIES} entries`);
  const hollow = items.value.find(isHollow);
  if (hollow === undefined) return items;
  // fail-closed: rules read it as all of the tool, and a limit was to stand there.
  const name = bareName(hollow);
  return err(`holds "${hollow}", whose parentheses name nothing: write ${name} for all of it`);
}

/** `Bash()`, `Agent(a, )`: a limit in parentheses, or one of several, that is not there. */
function isHollow(entry: string): boolean {
  const name = bareName(entry);
  if (name === entry) return false;
  const inside = entry.slice(name.length + 1, -1);
  const parts = (own(TOOL_ALIASES, name) ?? name) === 'Agent' ? inside.split(',') : [inside];
  return parts.some((part) => part.trim() === '');
}

function isBlank(value: unknown): boolean {
  return (
    value === null || value === undefined || (typeof value === 'string' && value.trim() === '')
  );
}

/** `Bash` of `Bash(git *)`. */
export function bareName(entry: string): string {
  const open = entry.indexOf('(');
  return open === -1 ? entry : entry.slice(0, open);
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

/** A ban may spell a server as the server does, as rules may: in names of tools a dot is an underscore. */
function asToolsAreNamed(entry: string): string {
  if (!isOfServers(entry)) return entry;
  const name = bareName(entry);
  return `${name.replaceAll('.', '_')}${entry.slice(name.length)}`;
}

/** Why a rule of this name would stop a start: no tool can have it. Undefined: some tool may. */
function impossible(name: string, knownTools: readonly string[]): string | undefined {
  const read = resolveRuleName(name, { kind: 'deny', scoped: false, knownTools });
  return 'why' in read ? `${read.why}. ${read.remedy.replace(/\.$/, '')}` : undefined;
}

/** What somebody meant who named a tool that there is not, as far as anybody can tell. */
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

/** What other programs, and people, call the tools. */
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
