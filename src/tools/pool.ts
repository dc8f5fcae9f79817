import type { ToolDefinition } from '../model/client.js';
import type { NameList } from '../util/name-list.js';
import { createNames, type Names } from '../util/tool-names.js';
import { createAllowMatcher, createToolMatcher, type ToolMatcher } from './pool-patterns.js';
import {
  type Added,
  createRegistry,
  type Defer,
  namesOf,
  type Registry,
  type UnmadeTools,
} from './pool-registry.js';
import type { AnyTool } from './tool.js';

export type { Added, Defer, UnmadeTools } from './pool-registry.js';

/**
 * The tools of one agent. What was sent once is sent again: `definitions` only ever grows at its end,
 * so that the bytes before stay the same for as long as the session lives.
 */
export interface ToolPool {
  /** All that can be called, deferred ones too. */
  readonly tools: readonly AnyTool[];
  /** Their names; no tool is made for them. */
  readonly names: readonly string[];
  /** Names of those that are not made yet, one list after the other. */
  readonly unmade: readonly NameList[];
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

export interface PoolOptions {
  /** Tools that are taken away for good, now and whenever they come. */
  readonly isBanned?: ToolMatcher;
  readonly defer?: Defer;
  readonly unmade?: UnmadeTools;
}

/** Built-in tools by name, then those of servers by name; a tool whose name is taken is left out. */
export function createPool(tools: readonly AnyTool[], options: PoolOptions = {}): ToolPool {
  const registry = createRegistry(options.isBanned, []);
  registry.add(tools, options.defer);
  if (options.unmade !== undefined) registry.expect(options.unmade, options.defer);
  return new Pool([registry], { isIn: () => true, isBanned: options.isBanned, from: NOTHING_SENT });
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
class Pool implements ToolPool {
  readonly #registries: readonly Registry[];
  readonly #parts: PoolParts;
  readonly #sent: ReturnType<typeof createSent>;
  readonly #known: ReturnType<typeof createKnown>;

  constructor(registries: readonly Registry[], parts: PoolParts) {
    this.#registries = registries;
    this.#parts = parts;
    this.#sent = createSent(registries, parts.isIn, parts.from);
    this.#known = createKnown(registries, parts.isIn);
  }

  get tools(): readonly AnyTool[] {
    return this.#known.tools();
  }

  get names(): readonly string[] {
    // Which of them a view has, only the tools themselves tell.
    const unmade = this.#registries.length === 1 ? this.unmade : [];
    const made = unmade.length === 0 ? this.#known.tools() : this.#known.made();
    return [...made.map(({ name }) => name), ...unmade.flatMap(({ names }) => names)];
  }

  get unmade(): readonly NameList[] {
    // Only what is in the pool from the start waits to be made.
    return this.#registries[0]?.unmade() ?? [];
  }

  get definitions(): readonly ToolDefinition[] {
    return this.#sent.definitions();
  }

  get deferred(): readonly AnyTool[] {
    return this.#known.tools().filter((tool) => !this.#sent.has(tool));
  }

  get loaded(): readonly string[] {
    return [...this.#sent.loaded];
  }

  get problems(): readonly string[] {
    for (const registry of this.#registries) registry.settle();
    return this.#registries.flatMap(({ problems }) => problems);
  }

  resolve(name: string): AnyTool | undefined {
    return this.#known.resolve(name);
  }

  nearestName(name: string): string | undefined {
    return this.#known.names().nearest(name);
  }

  add(more: readonly AnyTool[], { defer }: { readonly defer?: Defer } = {}): Added {
    return this.#registries.at(-1)?.add(more, defer) ?? { added: [], problems: [] };
  }

  load(wanted: readonly string[]): Loaded {
    return loadInto(this.#sent, wanted, this.#known.resolve);
  }

  view({ allow, deny, isHidden }: ToolSelection): ToolPool {
    const { isIn, isBanned } = this.#parts;
    const allowed = allow === undefined ? undefined : createAllowMatcher(allow);
    const denied = deny === undefined ? undefined : createToolMatcher(deny);
    const chosen = (tool: AnyTool): boolean => {
      if (!isIn(tool)) return false;
      const names = namesOf(tool);
      if (isHidden?.(names) === true) return false;
      return denied?.(names) !== true && allowed?.(names, tool.origin?.key) !== false;
    };
    const own = createRegistry(isBanned, this.#registries);
    // What a view adds for itself was chosen for it.
    const isInView = (tool: AnyTool): boolean =>
      own.taken.get(tool.name) === tool ? denied?.(namesOf(tool)) !== true : chosen(tool);
    const from = this.#sent.part(chosen);
    return new Pool([...this.#registries, own], { isIn: isInView, isBanned, from });
  }
}

/** The tools of a pool by name; looked up anew when there are more. */
function createKnown(registries: readonly Registry[], isIn: (tool: AnyTool) => boolean) {
  let known: { readonly size: number; readonly tools: readonly AnyTool[] } | undefined;
  let names: { readonly of: readonly AnyTool[]; readonly index: Names<AnyTool> } | undefined;
  const made = (): readonly AnyTool[] => {
    let size = 0;
    for (const { entries } of registries) size += entries.length;
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
