import { RULE_TOOLS } from '../permissions/rule-tools.js';
import { listOf } from '../skills/head-values.js';
import { nearest } from '../util/nearest.js';
import { err, ok, type Result } from '../util/result.js';
import { TOOL_ALIASES } from '../util/tool-names.js';

/** What rules may name, definitions may. */
export const KNOWN_TOOLS: readonly string[] = Object.keys(RULE_TOOLS);

export interface ToolList {
  /** Undefined: all that subagents may have. */
  readonly tools: readonly string[] | undefined;
  readonly warnings: readonly string[];
}

/** `tools`: nothing named is nothing given; `*` is everything. */
export function toolsOf(value: unknown, knownTools: readonly string[]): Result<ToolList, string> {
  if (value === null || value === undefined || (typeof value === 'string' && value.trim() === '')) {
    // fail-closed: left open it could mean all as well as nothing.
    return err('says nothing: write [] for no tools, "*" for all, or leave the field out');
  }
  const read = entriesOf(value);
  if (!read.ok) return read;
  const items = read.value;
  if (items.includes('*')) {
    const warnings = items.length > 1 ? ['"tools" names "*", so the other names mean nothing'] : [];
    return ok({ tools: undefined, warnings });
  }
  const unknown = items.map(bareName).filter((name) => !isKnown(name, knownTools));
  const warnings = unknown.slice(0, MOST_HINTS).map((name) => {
    const close = nearest(name, knownTools);
    const hint = close === undefined ? '' : `; did you mean ${close}?`;
    return `"tools" names ${name}, which is no tool that is known here${hint}`;
  });
  const more = unknown.length - warnings.length;
  if (more > 0) warnings.push(`"tools" names ${more} more that are not known here`);
  return ok({ tools: [...new Set(items)], warnings });
}

/** `disallowedTools`. A ban of what does not exist is fine; one that is misspelt would ban nothing. */
export function bansOf(
  value: unknown,
  knownTools: readonly string[],
): Result<readonly string[], string> {
  const read = entriesOf(value);
  if (!read.ok) return read;
  const unknown = read.value
    .map(bareName)
    .filter((name) => name !== '*' && !isKnown(name, knownTools));
  // fail-closed: each is compared with every tool, and a file may not make that take long.
  if (unknown.length > MOST_UNKNOWN_BANS) {
    return err(`names more than ${MOST_UNKNOWN_BANS} tools that are not known here`);
  }
  for (const name of unknown) {
    const close = nearest(name, knownTools);
    // fail-closed: it takes away nothing, and was meant to.
    if (close !== undefined) return err(`names ${name}; did you mean ${close}?`);
  }
  return ok([...new Set(read.value)]);
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
  const odd = items.value.find((item) => !ENTRY.test(item));
  return odd === undefined ? items : err(`holds "${odd}", which is no name of a tool`);
}

/** `Bash` of `Bash(git *)`. */
export function bareName(entry: string): string {
  const open = entry.indexOf('(');
  return open === -1 ? entry : entry.slice(0, open);
}

function isKnown(name: string, knownTools: readonly string[]): boolean {
  return name.startsWith('mcp__') || knownTools.includes(name) || Object.hasOwn(TOOL_ALIASES, name);
}
