import { nearest } from './text/nearest.js';

/** Older names that models, files and flags still carry, and what they mean now. */
export const TOOL_ALIASES: Readonly<Record<string, string>> = {
  Task: 'Agent',
  KillShell: 'TaskStop',
  KillBash: 'TaskStop',
  TaskOutput: 'BashOutput',
  AgentOutputTool: 'BashOutput',
  BashOutputTool: 'BashOutput',
  ListPeers: 'ListAgents',
  Brief: 'SendUserMessage',
  ListMcpResources: 'ListMcpResourcesTool',
  ReadMcpResource: 'ReadMcpResourceTool',
  ReadMcpResourceDir: 'ReadMcpResourceDirTool',
};

export interface Named<T> {
  readonly name: string;
  readonly aliases?: readonly string[] | undefined;
  readonly value: T;
}

export interface Names<T> {
  /** Exact, then unique without regard to case, then a known alias. */
  resolve(name: string): T | undefined;
  /** The closest known name, for the message about an unknown one. */
  nearest(name: string): string | undefined;
}

/** Resolves a written tool name for dispatch, rules, flags and lists. */
export function createNames<T>(entries: readonly Named<T>[]): Names<T> {
  const exact = new Map<string, T>();
  for (const { name, value } of entries) exact.set(name, value);
  let folded: Folded<T> | undefined;
  return {
    resolve(name) {
      const known = exact.get(name);
      if (known !== undefined) return known;
      // Made for the first name that is written in another way.
      folded ??= foldedNames(entries, exact);
      const found = folded.get(name.toLowerCase());
      return found === AMBIGUOUS ? undefined : (found as T | undefined);
    },
    nearest: (name) => nearest(name, exact.keys()),
  };
}

const AMBIGUOUS = Symbol('more than one');

type Folded<T> = Map<string, T | typeof AMBIGUOUS>;

/** All that leads to a value, in lower case. */
function foldedNames<T>(entries: readonly Named<T>[], exact: ReadonlyMap<string, T>): Folded<T> {
  const folded: Folded<T> = new Map();
  for (const { name, value } of entries) {
    const key = name.toLowerCase();
    folded.set(key, folded.has(key) ? AMBIGUOUS : value);
  }
  for (const { aliases = [], value } of entries) {
    for (const alias of aliases) addAlias(folded, alias, value);
  }
  for (const [alias, canonical] of Object.entries(TOOL_ALIASES)) {
    const value = exact.get(canonical);
    if (value !== undefined) addAlias(folded, alias, value);
  }
  return folded;
}

/** A tool's own name takes precedence over the alias of another. */
function addAlias<T>(folded: Folded<T>, alias: string, value: T): void {
  const key = alias.toLowerCase();
  if (!folded.has(key)) folded.set(key, value);
}

interface NamedTool {
  readonly name: string;
  readonly aliases?: readonly string[] | undefined;
  readonly origin?: { readonly key: string } | undefined;
}

/**
 * The names by which rules, hooks and lists may mean a tool. fail-closed: `mcp__a__b` reads like a tool, but is
 * all of a server that is called `a__b`.
 */
export function meantNames({ name, aliases = [], origin }: NamedTool): readonly string[] {
  const server = origin?.key.includes('__') === true ? [`mcp__${origin.key}`] : [];
  return [name, ...aliases, ...server];
}
