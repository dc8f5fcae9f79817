import { sortedNames } from '../lib/sorted-names.js';
import { createNames, meantNames, type Names, TOOL_ALIASES } from '../lib/tool-names.js';
import type { ToolDefinition } from '../model/client.js';
import { createAllowMatcher, createToolMatcher, type ToolMatcher } from './pool-patterns.js';
import type { AnyTool } from './tool.js';

export interface Added {
  readonly added: readonly AnyTool[];
  readonly problems: readonly string[];
}

/** Whether the model gets only the name of a tool. */
export type Defer = (tool: AnyTool) => boolean;

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

interface Entry {
  readonly tool: AnyTool;
  readonly deferred: boolean;
}

/** What a view starts with. */
interface ViewOf {
  readonly parent?: ToolPool;
  /** What the model of the parent has been told of and the view has too, in order. */
  readonly sent?: readonly AnyTool[];
  readonly seen?: Iterable<AnyTool>;
  readonly loaded?: readonly string[];
}

/** Built-in tools by name, then those of servers by name; a tool whose name is taken is left out. */
export function createPool(tools: readonly AnyTool[], options: PoolOptions = {}): ToolPool {
  const pool = new ToolPool({}, options.isBanned);
  pool.add(tools, options);
  return pool;
}

/**
 * The tools of one agent: its own, behind those of its parent that its selection lets through. What was sent
 * once is sent again: `definitions` only ever grows at its end, so that the bytes before stay the same for as
 * long as the session lives.
 */
export class ToolPool {
  readonly #parent: ToolPool | undefined;
  readonly #selection: Selection;
  readonly #isBanned: ToolMatcher | undefined;
  /** Tools that were added here, in the order in which they came. */
  readonly #own: Entry[] = [];
  readonly #problems: string[] = [];
  /** Own tools by each of their names. */
  readonly #taken = new Map<string, AnyTool>();
  /** Names that lead to own built-in tools, in lower case. */
  readonly #builtin = new Set<string>();
  /** Tools that were looked at before, and those of them that the model has been told of, in order. */
  readonly #seen: Set<AnyTool>;
  readonly #sent: Set<AnyTool>;
  readonly #loaded: string[];
  #definitions: readonly ToolDefinition[] = Object.freeze([]);
  #tools: readonly AnyTool[] = [];
  #names: Names<AnyTool> = createNames<AnyTool>([]);
  /** Tools of all parents and its own when the tools were chosen. */
  #size = 0;

  constructor(
    { parent, seen = [], sent = [], loaded = [] }: ViewOf,
    isBanned: ToolMatcher | undefined,
    selection: ToolSelection = {},
  ) {
    this.#parent = parent;
    this.#selection = matchersOf(selection);
    this.#isBanned = isBanned;
    this.#seen = new Set(seen);
    this.#sent = new Set(sent);
    this.#loaded = [...loaded];
  }

  /** All that can be called, deferred ones too. */
  get tools(): readonly AnyTool[] {
    this.#refresh();
    return this.#tools;
  }

  get names(): readonly string[] {
    return this.tools.map(({ name }) => name);
  }

  /** What the next request tells the model of. A frozen list, another one after a change. */
  get definitions(): readonly ToolDefinition[] {
    const sent = this.#told();
    if (sent.size !== this.#definitions.length) {
      this.#definitions = Object.freeze([...sent].map(({ definition }) => definition));
    }
    return this.#definitions;
  }

  /** Tools that the model knows by name alone. */
  get deferred(): readonly AnyTool[] {
    const sent = this.#told();
    return this.tools.filter((tool) => !sent.has(tool));
  }

  /** Names of the tools that were loaded, in this order. */
  get loaded(): readonly string[] {
    return [...this.#loaded];
  }

  /** Tools that are not offered because of others, and why. */
  get problems(): readonly string[] {
    return [...(this.#parent?.problems ?? []), ...this.#problems];
  }

  /** Exact, then unique without regard to case, then a known alias. Deferred tools are found. */
  resolve(name: string): AnyTool | undefined {
    this.#refresh();
    return this.#names.resolve(name);
  }

  /** The closest known name, for the message about an unknown one. */
  nearestName(name: string): string | undefined {
    this.#refresh();
    return this.#names.nearest(name);
  }

  /** Between turns alone. Their definitions come after all that were there before. What is added to a view is its own. */
  add(more: readonly AnyTool[], { defer }: { readonly defer?: Defer } = {}): Added {
    const problems: string[] = [];
    const added: AnyTool[] = [];
    for (const tool of inOrder(more)) {
      const names = namesOf(tool);
      if (this.#isBanned?.(meantNames(tool)) === true) continue;
      const problem = ideProblem(tool) ?? this.#nameProblem(tool, names);
      if (problem !== undefined) {
        problems.push(problem);
        continue;
      }
      for (const name of names) this.#taken.set(name, tool);
      for (const name of builtinNames(tool)) this.#builtin.add(name);
      this.#own.push({ tool, deferred: defer?.(tool) === true });
      added.push(tool);
    }
    this.#problems.push(...problems);
    return { added, problems };
  }

  /** Deferred tools become whole, from the next request on and in this order. */
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

  /** Some of the tools for another agent: the same order, the same definitions, loads of its own. */
  view(selection: ToolSelection): ToolPool {
    const { isWanted } = matchersOf(selection);
    // What hides tools may have changed since the model was told of them.
    const present = new Set(this.#entries().map(({ tool }) => tool));
    const sent = [...this.#told()].filter((tool) => present.has(tool) && isWanted(tool));
    const names = new Set(sent.map(({ name }) => name));
    const loaded = this.#loaded.filter((name) => names.has(name));
    return new ToolPool(
      { parent: this, seen: this.#seen, sent, loaded },
      this.#isBanned,
      selection,
    );
  }

  /** What a view adds for itself was chosen for it, unless it is denied. */
  #entries(): readonly Entry[] {
    const { isWanted, isDenied } = this.#selection;
    const inherited = this.#parent === undefined ? [] : this.#parent.#entries();
    return [
      ...inherited.filter(({ tool }) => isWanted(tool)),
      ...this.#own.filter(({ tool }) => !isDenied(meantNames(tool))),
    ];
  }

  #countAll(): number {
    const inherited = this.#parent === undefined ? 0 : this.#parent.#countAll();
    return inherited + this.#own.length;
  }

  #refresh(): void {
    const size = this.#countAll();
    if (this.#size === size) return;
    this.#size = size;
    this.#tools = Object.freeze(this.#entries().map(({ tool }) => tool));
    this.#names = createNames(
      this.#tools.map((tool) => ({ name: tool.name, aliases: tool.aliases, value: tool })),
    );
  }

  /** With what has come since it was last asked for. */
  #told(): Set<AnyTool> {
    for (const { tool, deferred } of this.#entries()) {
      if (this.#seen.has(tool)) continue;
      this.#seen.add(tool);
      if (!deferred) this.#sent.add(tool);
    }
    return this.#sent;
  }

  /** Why a tool cannot have its names: another of this pool, or of one that it is a view of, has one. */
  #nameProblem(tool: AnyTool, names: readonly string[]): string | undefined {
    const parent = this.#parent;
    const inherited = parent === undefined ? undefined : parent.#nameProblem(tool, names);
    if (inherited !== undefined) return inherited;
    const { origin } = tool;
    for (const name of names) {
      // fail-closed: who means the built-in tool must not get a server's.
      if (origin !== undefined && !isServed(name) && this.#builtin.has(name.toLowerCase())) {
        return `${tool.name} of the server "${origin.server}" is not offered: a built-in tool is called so`;
      }
      const other = this.#taken.get(name);
      if (other === undefined) continue;
      // fail-closed: a rule for the name would be a rule for two tools.
      return `${described(tool)} is not offered: ${described(other)} has the same name ${name}`;
    }
    return undefined;
  }
}

interface Selection {
  isDenied(names: readonly string[]): boolean;
  isWanted(tool: AnyTool): boolean;
}

function matchersOf({ allow, deny, isHidden }: ToolSelection): Selection {
  const allowed = allow === undefined ? undefined : createAllowMatcher(allow);
  const denied = deny === undefined ? undefined : createToolMatcher(deny);
  return {
    isDenied: (names) => denied?.(names) === true,
    isWanted(tool) {
      const names = meantNames(tool);
      if (isHidden?.(names) === true || denied?.(names) === true) return false;
      return allowed?.(names, tool.origin?.key) !== false;
    },
  };
}

/** The tools that the program of an editor lends; its others are for the editor itself. */
const IDE_TOOLS: ReadonlySet<string> = new Set([
  'mcp__ide__getDiagnostics',
  'mcp__ide__executeCode',
]);

function ideProblem({ name, origin }: AnyTool): string | undefined {
  if (origin === undefined || !/^ide$/i.test(origin.key) || IDE_TOOLS.has(name)) return undefined;
  return `${name} is not offered: of the server "${origin.server}" only ${[...IDE_TOOLS].join(' and ')} are`;
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

/** All that leads to a built-in tool, in lower case; nothing for others. */
function builtinNames(tool: AnyTool): readonly string[] {
  if (tool.origin !== undefined) return [];
  const older = Object.entries(TOOL_ALIASES).flatMap(([alias, name]) =>
    name === tool.name ? [alias] : [],
  );
  return [...namesOf(tool), ...older].map((name) => name.toLowerCase());
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
