import type { ToolDefinition } from '../model/client.js';
import { sortedNames } from '../util/sorted-names.js';
import { createNames, type Names, TOOL_ALIASES } from '../util/tool-names.js';
import { createToolMatcher, type ToolMatcher } from './pool-patterns.js';
import type { AnyTool } from './tool.js';

/**
 * The tools of one agent. What was sent once is sent again: `definitions` only ever grows at its end,
 * so that the bytes before stay the same for as long as the session lives.
 */
export interface ToolPool {
  /** All that can be called, deferred ones too. */
  readonly tools: readonly AnyTool[];
  /** Their names; no tool is made for them. */
  readonly names: readonly string[];
  /** Names of those that are not made yet. */
  readonly unmade: readonly string[];
  /** What the next request tells the model of. A frozen list, another one after a change. */
  readonly definitions: readonly ToolDefinition[];
  /** Tools of which the model is told the name alone. */
  readonly deferred: readonly AnyTool[];
  /** Names of the tools that were loaded, in this order. */
  readonly loaded: readonly string[];
  /** Tools that are not offered because of others, and why. */
  readonly problems: readonly string[];
  /** Exact, then unique without regard to case, then a known alias. Deferred tools are found. */
  resolve(name: string): AnyTool | undefined;
  /** The closest known name, for the message about an unknown one. */
  nearestName(name: string): string | undefined;
  /**
   * Between turns alone. Their definitions come after all that were there before. What is added to a
   * view is the view's own.
   */
  add(tools: readonly AnyTool[], options?: { readonly defer?: Defer }): Added;
  /** Deferred tools become whole, from the next request on and in this order. */
  load(names: readonly string[]): Loaded;
  /** Some of the tools for another agent: the same order, the same definitions, loads of its own. */
  view(selection: ToolSelection): ToolPool;
}

export interface Added {
  readonly added: readonly AnyTool[];
  readonly problems: readonly string[];
}

export interface Loaded {
  readonly loaded: readonly AnyTool[];
  /** The model knows them already. */
  readonly already: readonly AnyTool[];
  readonly unknown: readonly string[];
}

/** Names and patterns, as `createToolMatcher` reads them. Absent `allow`: all. `deny` wins. */
export interface ToolSelection {
  readonly allow?: readonly string[] | undefined;
  readonly deny?: readonly string[] | undefined;
  /** Besides `deny`: also tools that come later. */
  readonly isHidden?: ToolMatcher | undefined;
}

/** Whether the model is told the name alone. */
export type Defer = (tool: AnyTool) => boolean;

export interface PoolOptions {
  /** Tools that are taken away for good, now and whenever they come. */
  readonly isBanned?: ToolMatcher;
  readonly defer?: Defer;
  readonly unmade?: UnmadeTools;
}

/** Tools of servers, all of them deferred: they are made when the first of them is wanted. */
export interface UnmadeTools {
  /** As `sortedNames` orders them. None is banned, none is called like another tool. */
  readonly names: readonly string[];
  make(): readonly AnyTool[];
}

/** The tools that the program of an editor lends; its others are for the editor itself. */
const IDE_TOOLS: ReadonlySet<string> = new Set([
  'mcp__ide__getDiagnostics',
  'mcp__ide__executeCode',
]);

/** Built-in tools by name, then those of servers by name; a tool whose name is taken is left out. */
export function createPool(tools: readonly AnyTool[], options: PoolOptions = {}): ToolPool {
  const registry = createRegistry(options.isBanned, []);
  registry.add(tools, options.defer);
  if (options.unmade !== undefined) registry.expect(options.unmade, options.defer);
  return poolOver([registry], { isIn: () => true, isBanned: options.isBanned, from: NOTHING_SENT });
}

interface Entry {
  readonly tool: AnyTool;
  readonly deferred: boolean;
}

/** Tools in the order in which they came. Pools read it and keep their own place. */
interface Registry {
  readonly entries: readonly Entry[];
  readonly problems: readonly string[];
  /** By each of their names. */
  readonly taken: ReadonlyMap<string, AnyTool>;
  /** Names that lead to built-in tools, in lower case. */
  readonly builtin: ReadonlySet<string>;
  add(tools: readonly AnyTool[], defer: Defer | undefined): Added;
  /** Their place is here, before all that is added later. */
  expect(tools: UnmadeTools, defer: Defer | undefined): void;
  readonly unmade: readonly string[];
  /** Makes what is not made yet. */
  settle(): void;
}

function createRegistry(isBanned: ToolMatcher | undefined, before: readonly Registry[]): Registry {
  const entries: Entry[] = [];
  const problems: string[] = [];
  const taken = new Map<string, AnyTool>();
  const builtin = new Set<string>();
  const all = [...before, { taken, builtin }];
  let unmade: { readonly tools: UnmadeTools; readonly defer: Defer | undefined } | undefined;
  const registry: Registry = {
    entries,
    problems,
    taken,
    builtin,
    get unmade() {
      return unmade?.tools.names ?? [];
    },
    expect(tools, defer) {
      unmade = { tools, defer };
    },
    settle() {
      const now = unmade;
      unmade = undefined;
      if (now !== undefined) registry.add(now.tools.make(), now.defer);
    },
    add(tools, defer) {
      for (const one of before) one.settle();
      registry.settle();
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
        if (tool.origin === undefined) {
          for (const name of builtinNames(tool)) builtin.add(name);
        }
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

function namesOf(tool: AnyTool): readonly string[] {
  return tool.aliases === undefined ? [tool.name] : [tool.name, ...tool.aliases];
}

/** All that leads to a built-in tool, in lower case. */
function builtinNames(tool: AnyTool): readonly string[] {
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

/** What a pool has told the model of, in order; a view begins with its part of it. */
interface Sent {
  readonly tools: readonly AnyTool[];
  readonly loaded: readonly string[];
  /** Entries that were looked at, for each registry. */
  readonly seen: readonly number[];
}

const NOTHING_SENT: Sent = { tools: [], loaded: [], seen: [] };

interface PoolParts {
  readonly isIn: (tool: AnyTool) => boolean;
  readonly isBanned: ToolMatcher | undefined;
  readonly from: Sent;
}

/** Reads the registries of others and adds to the last one. */
function poolOver(registries: readonly Registry[], { isIn, isBanned, from }: PoolParts): ToolPool {
  const sent = createSent(registries, isIn, from);
  const known = createKnown(registries, isIn);
  return {
    get tools() {
      return known.tools();
    },
    get names() {
      // Which of them a view has, only the tools themselves tell.
      const unmade = registries.length === 1 ? (registries[0]?.unmade ?? []) : [];
      const made = unmade.length === 0 ? known.tools() : known.made();
      return [...made.map(({ name }) => name), ...unmade];
    },
    get unmade() {
      // Only what is in the pool from the start waits to be made.
      return registries[0]?.unmade ?? [];
    },
    get definitions() {
      return sent.definitions();
    },
    get deferred() {
      return known.tools().filter((tool) => !sent.has(tool));
    },
    get loaded() {
      return [...sent.loaded];
    },
    get problems() {
      for (const registry of registries) registry.settle();
      return registries.flatMap(({ problems }) => problems);
    },
    resolve: known.resolve,
    nearestName: (name) => known.names().nearest(name),
    add: (more, { defer } = {}) =>
      registries.at(-1)?.add(more, defer) ?? { added: [], problems: [] },
    load: (wanted) => loadInto(sent, wanted, known.resolve),
    view({ allow, deny, isHidden }) {
      const allowed = allow === undefined ? undefined : createToolMatcher(allow);
      const denied = deny === undefined ? undefined : createToolMatcher(deny);
      const chosen = (tool: AnyTool): boolean => {
        if (!isIn(tool)) return false;
        const names = namesOf(tool);
        if (isHidden?.(names) === true) return false;
        return denied?.(names) !== true && allowed?.(names) !== false;
      };
      const own = createRegistry(isBanned, registries);
      // What a view adds for itself was chosen for it.
      const isInView = (tool: AnyTool): boolean =>
        own.taken.get(tool.name) === tool ? denied?.(namesOf(tool)) !== true : chosen(tool);
      return poolOver([...registries, own], { isIn: isInView, isBanned, from: sent.part(chosen) });
    },
  };
}

/** The tools of a pool by name; looked up anew when there are more. */
function createKnown(registries: readonly Registry[], isIn: (tool: AnyTool) => boolean) {
  let known: { readonly size: number; readonly tools: readonly AnyTool[] } | undefined;
  let names: { readonly of: readonly AnyTool[]; readonly index: Names<AnyTool> } | undefined;
  const made = (): readonly AnyTool[] => {
    const size = registries.reduce((sum, { entries }) => sum + entries.length, 0);
    if (known?.size !== size) {
      const all = registries.flatMap(({ entries }) => entries.map(({ tool }) => tool));
      known = { size, tools: Object.freeze(all.filter(isIn)) };
    }
    return known.tools;
  };
  const tools = (): readonly AnyTool[] => {
    for (const registry of registries) registry.settle();
    return made();
  };
  const indexOf = (of: readonly AnyTool[]): Names<AnyTool> => {
    if (names?.of !== of) {
      const entries = of.map((tool) => ({ name: tool.name, aliases: tool.aliases, value: tool }));
      names = { of, index: createNames(entries) };
    }
    return names.index;
  };
  return {
    made,
    tools,
    names: () => indexOf(tools()),
    /** Tools of servers are called like no built-in one, so what is found among those is right. */
    resolve: (name: string): AnyTool | undefined =>
      indexOf(made()).resolve(name) ?? indexOf(tools()).resolve(name),
  };
}

/** The definitions that a pool sends: a list that grows at its end. */
function createSent(registries: readonly Registry[], isIn: (tool: AnyTool) => boolean, from: Sent) {
  const tools = new Set(from.tools);
  const loaded = [...from.loaded];
  const seen = registries.map((_, index) => from.seen[index] ?? 0);
  let definitions: readonly ToolDefinition[] | undefined;
  const send = (tool: AnyTool): void => {
    tools.add(tool);
    definitions = undefined;
  };
  const catchUp = (): void => {
    registries.forEach(({ entries }, index) => {
      const news = entries.slice(seen[index] ?? 0);
      seen[index] = entries.length;
      for (const { tool, deferred } of news) {
        if (!deferred && isIn(tool) && !tools.has(tool)) send(tool);
      }
    });
  };
  return {
    loaded,
    definitions(): readonly ToolDefinition[] {
      catchUp();
      definitions ??= Object.freeze([...tools].map(({ definition }) => definition));
      return definitions;
    },
    has(tool: AnyTool): boolean {
      catchUp();
      return tools.has(tool);
    },
    load(tool: AnyTool): void {
      send(tool);
      loaded.push(tool.name);
    },
    part(isChosen: (tool: AnyTool) => boolean): Sent {
      catchUp();
      const chosen = [...tools].filter(isChosen);
      const names = new Set(chosen.map(({ name }) => name));
      return { tools: chosen, loaded: loaded.filter((name) => names.has(name)), seen };
    },
  };
}

function loadInto(
  sent: ReturnType<typeof createSent>,
  wanted: readonly string[],
  resolve: (name: string) => AnyTool | undefined,
): Loaded {
  const made = new Set<AnyTool>();
  const already = new Set<AnyTool>();
  const unknown: string[] = [];
  for (const name of wanted) {
    const tool = resolve(name);
    if (tool === undefined) unknown.push(name);
    else if (sent.has(tool)) already.add(tool);
    else {
      sent.load(tool);
      made.add(tool);
    }
  }
  return { loaded: [...made], already: [...already].filter((tool) => !made.has(tool)), unknown };
}
