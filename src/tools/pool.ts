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
  /**
   * Some of the tools for another agent: the same order, the same definitions, loads of its own. Who gives
   * the very same selection again shares what was chosen, until the pool has more.
   */
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
  const registry = createRegistry(options.isBanned, []);
  registry.add(tools, options.defer);
  return new Pool([registry], { ...EVERYTHING, isBanned: options.isBanned }, registry);
}

/** What a pool has told the model of, in order. It never changes: a pool that tells more has another. */
interface Sent {
  readonly tools: ReadonlySet<AnyTool>;
  readonly loaded: readonly string[];
  /** Entries that were looked at, for each registry. */
  readonly seen: readonly number[];
  readonly definitions: readonly ToolDefinition[];
}

/** The tools of a pool, and the way to them by name. Of a pool that has more there is another. */
class Known {
  /** Entries of all registries, those of others included. */
  readonly size: number;
  readonly tools: readonly AnyTool[];
  #names: Names<AnyTool> | undefined;

  constructor(size: number, tools: readonly AnyTool[]) {
    this.size = size;
    this.tools = Object.freeze(tools);
  }

  get names(): Names<AnyTool> {
    this.#names ??= createNames(
      this.tools.map((tool) => ({ name: tool.name, aliases: tool.aliases, value: tool })),
    );
    return this.#names;
  }
}

/** What a view has of the pool that it is a view of, and begins with. */
interface Choice {
  isChosen(tool: AnyTool): boolean;
  /** Of what the view adds for itself. */
  isDenied(names: readonly string[]): boolean;
  readonly isBanned: ToolMatcher | undefined;
  /** Whether the same is chosen of the same tools whenever that is asked. */
  readonly isSteady: boolean;
  readonly sent: Sent;
  readonly known: Known;
}

const EVERYTHING: Choice = {
  isChosen: () => true,
  isDenied: () => false,
  isBanned: undefined,
  isSteady: true,
  sent: { tools: new Set(), loaded: [], seen: [], definitions: Object.freeze([]) },
  known: new Known(0, []),
};

/** Reads the registries of others and adds to one of its own. */
class Pool implements ToolPool {
  #registries: readonly Registry[];
  /** The last of them. A view has none before something is added to it. */
  #own: Registry | undefined;
  readonly #choice: Choice;
  #sent: Sent;
  #known: Known;
  /** Of selections that were given, and what the pool had then. */
  #choices: WeakMap<ToolSelection, { sent: Sent; known: Known; choice: Choice }> | undefined;

  constructor(registries: readonly Registry[], choice: Choice, own?: Registry) {
    this.#registries = registries;
    this.#own = own;
    this.#choice = choice;
    this.#sent = choice.sent;
    this.#known = choice.known;
  }

  get tools(): readonly AnyTool[] {
    return this.#all().tools;
  }

  get names(): readonly string[] {
    return this.tools.map(({ name }) => name);
  }

  get definitions(): readonly ToolDefinition[] {
    return this.#told().definitions;
  }

  get deferred(): readonly AnyTool[] {
    const { tools } = this.#all();
    const sent = this.#told();
    return tools.filter((tool) => !sent.tools.has(tool));
  }

  get loaded(): readonly string[] {
    return [...this.#sent.loaded];
  }

  get problems(): readonly string[] {
    return this.#registries.flatMap(({ problems }) => problems);
  }

  /** Tools of servers are called like no built-in one, so what is found among those is right. */
  resolve(name: string): AnyTool | undefined {
    return this.#all().names.resolve(name);
  }

  nearestName(name: string): string | undefined {
    return this.#all().names.nearest(name);
  }

  add(more: readonly AnyTool[], { defer }: { readonly defer?: Defer } = {}): Added {
    return this.#ownRegistry().add(more, defer);
  }

  load(wanted: readonly string[]): Loaded {
    const found = wanted.map((name) => ({ name, tool: this.resolve(name) }));
    const sent = this.#told();
    const loaded = new Set<AnyTool>();
    const already = new Set<AnyTool>();
    const unknown: string[] = [];
    for (const { name, tool } of found) {
      if (tool === undefined) unknown.push(name);
      else if (sent.tools.has(tool)) already.add(tool);
      else loaded.add(tool);
    }
    if (loaded.size > 0) {
      this.#sent = grown({ ...sent, loaded: [...sent.loaded, ...namesIn(loaded)] }, loaded);
    }
    return { loaded: [...loaded], already: [...already], unknown };
  }

  view(selection: ToolSelection): ToolPool {
    // What is added to this one later, its views have too.
    this.#ownRegistry();
    return new Pool(this.#registries, this.#chosenBy(selection));
  }

  #ownRegistry(): Registry {
    if (this.#own === undefined) {
      this.#own = createRegistry(this.#choice.isBanned, this.#registries);
      this.#registries = [...this.#registries, this.#own];
    }
    return this.#own;
  }

  /** What a view adds for itself was chosen for it. */
  #isIn(tool: AnyTool): boolean {
    return this.#own?.taken.get(tool.name) === tool
      ? !this.#choice.isDenied(namesOf(tool))
      : this.#choice.isChosen(tool);
  }

  /** All that can be called. */
  #all(): Known {
    const size = sizeOf(this.#registries);
    if (this.#known.size !== size) {
      const all = this.#registries.flatMap(({ entries }) => entries.map(({ tool }) => tool));
      this.#known = new Known(
        size,
        all.filter((tool) => this.#isIn(tool)),
      );
    }
    return this.#known;
  }

  /** With what has come since it was last asked for. */
  #told(): Sent {
    const { seen } = this.#sent;
    if (areSeen(this.#registries, seen)) return this.#sent;
    const news = this.#registries
      .flatMap(({ entries }, at) => entries.slice(seen[at] ?? 0))
      .filter(({ tool, deferred }) => !deferred && this.#isIn(tool))
      .map(({ tool }) => tool);
    const now = this.#registries.map(({ entries }) => entries.length);
    this.#sent = grown({ ...this.#sent, seen: now }, news);
    return this.#sent;
  }

  #chosenBy(selection: ToolSelection): Choice {
    const sent = this.#told();
    const known = this.#all();
    const before = this.#choices?.get(selection);
    if (before?.sent === sent && before.known === known) return before.choice;
    const { isBanned, isSteady } = this.#choice;
    const wish = wishOf(selection);
    const isChosen = (tool: AnyTool): boolean => this.#isIn(tool) && wish.isWanted(tool);
    const choice: Choice = {
      isChosen,
      isDenied: wish.isDenied,
      isBanned,
      isSteady: isSteady && selection.isHidden === undefined,
      sent: partOf(sent, isChosen),
      known: new Known(known.size, known.tools.filter(isChosen)),
    };
    if (choice.isSteady) {
      this.#choices ??= new WeakMap();
      this.#choices.set(selection, { sent, known, choice });
    }
    return choice;
  }
}

function sizeOf(registries: readonly Registry[]): number {
  let size = 0;
  for (const { entries } of registries) size += entries.length;
  return size;
}

/** Asked before every request. */
function areSeen(registries: readonly Registry[], seen: readonly number[]): boolean {
  for (let at = 0; at < registries.length; at++) {
    if (registries[at]?.entries.length !== (seen[at] ?? 0)) return false;
  }
  return true;
}

function namesIn(tools: Iterable<AnyTool>): readonly string[] {
  return [...tools].map(({ name }) => name);
}

/** The same with more tools at its end. */
function grown(sent: Sent, more: Iterable<AnyTool>): Sent {
  const tools = new Set(sent.tools);
  for (const tool of more) tools.add(tool);
  return tools.size === sent.tools.size ? sent : { ...sent, tools, definitions: defined(tools) };
}

function partOf(sent: Sent, isChosen: (tool: AnyTool) => boolean): Sent {
  const tools = new Set([...sent.tools].filter(isChosen));
  if (tools.size === sent.tools.size) return sent;
  const names = new Set(namesIn(tools));
  const loaded = sent.loaded.filter((name) => names.has(name));
  return { ...sent, tools, loaded, definitions: defined(tools) };
}

function defined(tools: ReadonlySet<AnyTool>): readonly ToolDefinition[] {
  return Object.freeze([...tools].map(({ definition }) => definition));
}

/** What a selection says of a tool. */
function wishOf({ allow, deny, isHidden }: ToolSelection) {
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
