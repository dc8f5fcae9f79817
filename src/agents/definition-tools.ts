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
  const warnings = items.flatMap((item) => {
    const name = bareName(item);
    if (isKnown(name, knownTools)) return [];
    const close = nearest(name, knownTools);
    const hint = close === undefined ? '' : `; did you mean ${close}?`;
    return [`"tools" names ${name}, which is no tool that is known here${hint}`];
  });
  return ok({ tools: [...new Set(items)], warnings });
}

/** `disallowedTools`. A ban of what does not exist is fine; one that is misspelt would ban nothing. */
export function bansOf(
  value: unknown,
  knownTools: readonly string[],
): Result<readonly string[], string> {
  const read = entriesOf(value);
  if (!read.ok) return read;
  for (const item of read.value) {
    const name = bareName(item);
    if (name === '*' || isKnown(name, knownTools)) continue;
    const close = nearest(name, knownTools);
    // fail-closed: it takes away nothing, and was meant to.
    if (close !== undefined) return err(`names ${name}; did you mean ${close}?`);
  }
  return ok([...new Set(read.value)]);
}

const ENTRY = /^(?:\*|[A-Za-z_][\w.*-]*(?:\(.*\))?)$/s;

function entriesOf(value: unknown): Result<readonly string[], string> {
  const items = listOf(value);
  if (!items.ok) return items;
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
