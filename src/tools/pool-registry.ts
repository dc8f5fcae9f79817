import { sortedNames } from '../lib/sorted-names.js';
import { TOOL_ALIASES } from '../lib/tool-names.js';
import type { ToolMatcher } from './pool-patterns.js';
import type { AnyTool } from './tool.js';

/** Tools in the order in which they came. Pools read it and keep their own place. */
export interface Registry {
  readonly entries: readonly Entry[];
  readonly problems: readonly string[];
  /** By each of their names. */
  readonly taken: ReadonlyMap<string, AnyTool>;
  /** Names that lead to built-in tools, in lower case. */
  readonly builtin: ReadonlySet<string>;
  add(tools: readonly AnyTool[], defer: Defer | undefined): Added;
}

interface Entry {
  readonly tool: AnyTool;
  readonly deferred: boolean;
}

export interface Added {
  readonly added: readonly AnyTool[];
  readonly problems: readonly string[];
}

/** Whether the model is told the name alone. */
export type Defer = (tool: AnyTool) => boolean;

/** The tools that the program of an editor lends; its others are for the editor itself. */
const IDE_TOOLS: ReadonlySet<string> = new Set([
  'mcp__ide__getDiagnostics',
  'mcp__ide__executeCode',
]);

export function createRegistry(
  isBanned: ToolMatcher | undefined,
  before: readonly Registry[],
): Registry {
  const entries: Entry[] = [];
  const problems: string[] = [];
  const taken = new Map<string, AnyTool>();
  const builtin = new Set<string>();
  const registry: Registry = {
    entries,
    problems,
    taken,
    builtin,
    add(tools, defer) {
      const all = [...before, registry];
      const found: string[] = [];
      const added: AnyTool[] = [];
      for (const tool of inOrder(tools)) {
        const names = namesOf(tool);
        if (isBanned?.(names) === true) continue;
        const problem = problemOf(tool, names, all);
        if (problem !== undefined) {
          found.push(problem);
          continue;
        }
        for (const name of names) taken.set(name, tool);
        for (const name of builtinNames(tool)) builtin.add(name);
        entries.push({ tool, deferred: defer?.(tool) === true });
        added.push(tool);
      }
      problems.push(...found);
      return { added, problems: found };
    },
  };
  return registry;
}

/** Built-in ones first: whatever a server calls its tools, it never takes the place of ours. */
function inOrder(tools: readonly AnyTool[]): readonly AnyTool[] {
  const own = tools.filter(({ origin }) => origin === undefined);
  const served = new Map<string, AnyTool[]>();
  for (const tool of tools) {
    if (tool.origin === undefined) continue;
    const same = served.get(tool.name);
    if (same === undefined) served.set(tool.name, [tool]);
    else same.push(tool);
  }
  own.sort((a, b) => (a.name < b.name ? -1 : a.name > b.name ? 1 : 0));
  return [...own, ...sortedNames([...served.keys()]).flatMap((name) => served.get(name) ?? [])];
}

export function namesOf(tool: AnyTool): readonly string[] {
  return tool.aliases === undefined ? [tool.name] : [tool.name, ...tool.aliases];
}

/** All that leads to a built-in tool, in lower case; nothing for others. */
function builtinNames(tool: AnyTool): readonly string[] {
  if (tool.origin !== undefined) return [];
  const older = Object.entries(TOOL_ALIASES).flatMap(([alias, name]) =>
    name === tool.name ? [alias] : [],
  );
  return [...namesOf(tool), ...older].map((name) => name.toLowerCase());
}

function problemOf(
  tool: AnyTool,
  names: readonly string[],
  registries: readonly Pick<Registry, 'taken' | 'builtin'>[],
): string | undefined {
  const { origin } = tool;
  if (origin !== undefined && /^ide$/i.test(origin.key) && !IDE_TOOLS.has(tool.name)) {
    return `${tool.name} is not offered: of the server "${origin.server}" only ${[...IDE_TOOLS].join(' and ')} are`;
  }
  for (const { taken, builtin } of registries) {
    for (const name of names) {
      // fail-closed: who means the built-in tool must not get a server's.
      if (origin !== undefined && !isServed(name) && builtin.has(name.toLowerCase())) {
        return `${tool.name} of the server "${origin.server}" is not offered: a built-in tool is called so`;
      }
      const other = taken.get(name);
      if (other === undefined) continue;
      // fail-closed: a rule for the name would be a rule for two tools.
      return `${described(tool)} is not offered: ${described(other)} has the same name ${name}`;
    }
  }
  return undefined;
}

/** No built-in tool is called so in any case, and servers have thousands of tools. */
function isServed(name: string): boolean {
  return name.startsWith('mcp__');
}

function described({ name, origin }: AnyTool): string {
  return origin === undefined
    ? `the built-in ${name}`
    : `the tool ${JSON.stringify(origin.tool)} of the server "${origin.server}"`;
}
