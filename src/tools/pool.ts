import { createNames, type Names } from '../lib/tool-names.js';
import type { ToolDefinition } from '../model/client.js';
import { createAllowMatcher, createToolMatcher, type ToolMatcher } from './pool-patterns.js';
import { type Added, createRegistry, type Defer, namesOf, type Registry } from './pool-registry.js';
import type { AnyTool } from './tool.js';

export type { Added, Defer } from './pool-registry.js';

/**
 * The tools of one agent. What was sent once is sent again: `definitions` only ever grows at its end,
 * so that the bytes before stay the same for as long as the session lives.
 */
export interface ToolPool {
  /** All that can be called, deferred ones too. */
  readonly tools: readonly AnyTool[];
  readonly names: readonly string[];
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
}

/** Built-in tools by name, then those of servers by name; a tool whose name is taken is left out. */
export function createPool(tools: readonly AnyTool[], options: PoolOptions = {}): ToolPool {
  const { isBanned, defer } = options;
  const pool = new Pool([], { isChosen: () => true, isDenied: () => false }, { isBanned });
  pool.add(tools, { defer });
  return pool;
}

/** Which of the tools of others a view has. */
interface Choice {
  isChosen(tool: AnyTool): boolean;
  /** Of what the view adds for itself. */
  isDenied(names: readonly string[]): boolean;
}

/** Reads the registries of others and adds to one of its own. */
class Pool implements ToolPool {
  readonly #registries: readonly Registry[];
  readonly #own: Registry;
  readonly #choice: Choice;
  readonly #isBanned: ToolMatcher | undefined;
  /** Tools that were looked at before, and those of them that the model has been told of, in order. */
  readonly #seen: Set<AnyTool>;
  readonly #sent: Set<AnyTool>;
  readonly #loaded: string[];
  #definitions: readonly ToolDefinition[] = Object.freeze([]);
  #tools: readonly AnyTool[] = [];
  #names: Names<AnyTool> = createNames<AnyTool>([]);
  /** Entries of all registries when the tools were chosen. */
  #size = 0;

  constructor(
    others: readonly Registry[],
    choice: Choice,
    {
      isBanned,
      seen = [],
      sent = [],
      loaded = [],
    }: {
      readonly isBanned: ToolMatcher | undefined;
      readonly seen?: Iterable<AnyTool>;
      readonly sent?: readonly AnyTool[];
      readonly loaded?: readonly string[];
    },
  ) {
    this.#own = createRegistry(isBanned, others);
    this.#registries = [...others, this.#own];
    this.#choice = choice;
    this.#isBanned = isBanned;
    this.#seen = new Set(seen);
    this.#sent = new Set(sent);
    this.#loaded = [...loaded];
  }

  get tools(): readonly AnyTool[] {
    this.#refresh();
    return this.#tools;
  }

  get names(): readonly string[] {
    return this.tools.map(({ name }) => name);
  }

  get definitions(): readonly ToolDefinition[] {
    const sent = this.#told();
    if (sent.size !== this.#definitions.length) {
      this.#definitions = Object.freeze([...sent].map(({ definition }) => definition));
    }
    return this.#definitions;
  }

  get deferred(): readonly AnyTool[] {
    const sent = this.#told();
    return this.tools.filter((tool) => !sent.has(tool));
  }

  get loaded(): readonly string[] {
    return [...this.#loaded];
  }

  get problems(): readonly string[] {
    return this.#registries.flatMap(({ problems }) => problems);
  }

  /** Tools of servers are called like no built-in one, so what is found among those is right. */
  resolve(name: string): AnyTool | undefined {
    this.#refresh();
    return this.#names.resolve(name);
  }

  nearestName(name: string): string | undefined {
    this.#refresh();
    return this.#names.nearest(name);
  }

  add(more: readonly AnyTool[], { defer }: { readonly defer?: Defer } = {}): Added {
    return this.#own.add(more, defer);
  }

  load(wanted: readonly string[]): Loaded {
    const sent = this.#told();
    const loaded = new Set<AnyTool>();
    const already = new Set<AnyTool>();
    const unknown: string[] = [];
    for (const name of wanted) {
      const tool = this.resolve(name);
      if (tool === undefined) unknown.push(name);
      else (sent.has(tool) ? already : loaded).add(tool);
    }
    for (const tool of loaded) {
      sent.add(tool);
      this.#loaded.push(tool.name);
    }
    return { loaded: [...loaded], already: [...already], unknown };
  }

  view(selection: ToolSelection): ToolPool {
    const { isDenied, isWanted } = choiceOf(selection);
    const isChosen = (tool: AnyTool): boolean => this.#isIn(tool) && isWanted(tool);
    const sent = [...this.#told()].filter(isChosen);
    const names = new Set(sent.map(({ name }) => name));
    return new Pool(
      this.#registries,
      { isChosen, isDenied },
      {
        isBanned: this.#isBanned,
        seen: this.#seen,
        sent,
        loaded: this.#loaded.filter((name) => names.has(name)),
      },
    );
  }

  /** What a view adds for itself was chosen for it. */
  #isIn(tool: AnyTool): boolean {
    return this.#own.taken.get(tool.name) === tool
      ? !this.#choice.isDenied(namesOf(tool))
      : this.#choice.isChosen(tool);
  }

  /** All that can be called. */
  #refresh(): void {
    const size = this.#registries.reduce((sum, { entries }) => sum + entries.length, 0);
    if (this.#size === size) return;
    this.#size = size;
    const all = this.#registries.flatMap(({ entries }) => entries.map(({ tool }) => tool));
    this.#tools = Object.freeze(all.filter((tool) => this.#isIn(tool)));
    this.#names = createNames(
      this.#tools.map((tool) => ({ name: tool.name, aliases: tool.aliases, value: tool })),
    );
  }

  /** With what has come since it was last asked for. */
  #told(): Set<AnyTool> {
    for (const { entries } of this.#registries) {
      for (const { tool, deferred } of entries) {
        if (this.#seen.has(tool)) continue;
        this.#seen.add(tool);
        if (!deferred && this.#isIn(tool)) this.#sent.add(tool);
      }
    }
    return this.#sent;
  }
}

/** What a selection says of a tool. */
function choiceOf({ allow, deny, isHidden }: ToolSelection) {
  const allowed = allow === undefined ? undefined : createAllowMatcher(allow);
  const denied = deny === undefined ? undefined : createToolMatcher(deny);
  return {
    isDenied: (names: readonly string[]): boolean => denied?.(names) === true,
    isWanted(tool: AnyTool): boolean {
      const names = namesOf(tool);
      if (isHidden?.(names) === true || denied?.(names) === true) return false;
      return allowed?.(names, tool.origin?.key) !== false;
    },
  };
}
