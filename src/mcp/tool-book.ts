import type { FileSystem } from '../env/fs.js';
import { messageOf } from '../errors.js';
import { type Finding, type Guard, NOTHING } from '../permissions/guard.js';
import type { GateExtension } from '../permissions/open.js';
import { NO_RULES } from '../permissions/rules.js';
import type { AnyTool } from '../tools/tool.js';
import { err, ok, type Result } from '../util/result.js';
import { checkDefinition, definitionOf } from './definition-check.js';
import type { McpConnection } from './server.js';
import { type Admission, type McpToolParts, mcpTool } from './tool.js';
import type { ApprovedTools, ToolApprovals } from './tool-approvals.js';
import { describeChange } from './tool-change.js';
import { planGuard, serverOfRuleGuard } from './tool-guards.js';
import { type ListedTool, listingOf, type ServerListing } from './tool-listing.js';

export interface Offered {
  /** Tools that were not known before. */
  readonly tools: readonly AnyTool[];
  /** Full names of tools whose definition is not the approved one. */
  readonly changed: readonly string[];
  readonly problems: readonly string[];
}

export interface ToolBookDeps {
  readonly fs: Pick<FileSystem, 'writeAtomic'>;
  readonly approvals: Pick<ToolApprovals, 'read' | 'record'>;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Full names of the built-in tools. */
  readonly builtinNames: readonly string[];
  /** False: another book answers for the tool. Absent: this one does for all. */
  covers?(tool: AnyTool): boolean;
  /** A server was asked anew because one of its tools was called. */
  onListing?(connection: McpConnection, listing: ServerListing, offered: Offered): void;
  /** For people. */
  tell(text: string): void;
}

/** The tools of all servers of a session, and which of their definitions somebody has agreed to. */
export interface ToolBook {
  /** `live`: the server has just said so, and it is not what a cache remembers. */
  offer(
    connection: McpConnection,
    listing: ServerListing,
    options: { readonly live: boolean },
  ): Promise<Offered>;
  /** What a cache remembers. Its tools are made when they are first wanted. */
  remember(connection: McpConnection, listing: ServerListing): Promise<() => readonly AnyTool[]>;
  /** The server is not to be called any more, and why; until it is offered anew. */
  leave(server: string, why: string): Promise<void>;
  /** Must be part of the gate: a call that it has not seen is not made. */
  readonly extension: GateExtension;
  /** Once approvals of this session are stored. */
  close(): Promise<void>;
}

/** One server. */
interface Page {
  /** Another one once the server was turned off and on, or its entry is a new one. */
  connection: McpConnection;
  readonly parts: McpToolParts;
  approved: ApprovedTools;
  readonly entries: Map<string, Entry>;
  /** Makes the tools that a cache remembers, which come before all others. */
  make: (() => unknown) | undefined;
  /** Whether the server itself has said what it offers since it was last connected. */
  live: boolean;
  /** Why it must not be called: it was turned off, or taken away. */
  away: string | undefined;
  /** How often the server has said that its tools are others now. */
  changes: number;
  asking: Promise<Result<undefined, string>> | undefined;
}

/** One tool, by its name on its server. */
interface Entry {
  readonly tool: AnyTool;
  current: ListedTool;
  /** Fingerprint; undefined for a tool that nobody has agreed to yet. */
  approved: string | undefined;
  gone: boolean;
}

/** Calls that were refused are never made and would stay for ever. */
const MOST_NOTED = 256;

export function createToolBook(deps: ToolBookDeps): ToolBook {
  const pages = new Map<string, Promise<Page>>();
  /** Which definition each call was judged by. */
  const judged = new Map<string, string>();
  const storing = new Set<Promise<void>>();

  const pageOf = (connection: McpConnection): Promise<Page> => {
    const { name } = connection.declaration;
    const known = pages.get(name);
    const page =
      known === undefined
        ? openPage(connection, deps, admit)
        : known.then((one) => bind(one, connection, deps));
    pages.set(name, page);
    return page;
  };

  const approve = (page: Page, entry: Entry): void => {
    if (entry.approved === entry.current.fingerprint) return;
    entry.approved = entry.current.fingerprint;
    const { declaration } = page.connection;
    const stored = deps.approvals.record(declaration, [entry.current]).catch((thrown) => {
      deps.tell(`${entry.tool.name}: ${messageOf(thrown)}`);
    });
    storing.add(stored);
    void stored.finally(() => storing.delete(stored));
  };

  const admit = async (
    page: Page,
    name: string,
    toolUseId: string,
  ): Promise<Result<Admission, string>> => {
    const by = judged.get(toolUseId);
    judged.delete(toolUseId);
    // fail-closed: it was turned off after the call was allowed.
    if (page.away !== undefined) return err(`The call was not made: ${page.away}.`);
    const live = await askAnew(page, deps, (listing) => entered(page, listing, { live: true }));
    if (!live.ok) return live;
    const entry = page.entries.get(name);
    if (entry === undefined || entry.gone) return err(goneText(page, name));
    // fail-closed: nobody can say which definition was allowed.
    if (by === undefined) return err(`${entry.tool.name} was not called: it was not judged.`);
    if (by !== entry.current.fingerprint) return err(changedText(page, entry));
    const isNew = entry.approved === undefined || entry.approved === by;
    const note = isNew ? undefined : acceptedNote(entry);
    approve(page, entry);
    return ok(note === undefined ? {} : { note });
  };

  /** Puts down what a server offers now. */
  const entered = (page: Page, listing: ServerListing, { live }: { live: boolean }): Offered => {
    page.make?.();
    const made: AnyTool[] = [];
    const listed = new Set<string>();
    for (const current of listing.tools) {
      listed.add(current.name);
      const known = page.entries.get(current.name);
      if (known === undefined) {
        const entry = newEntry(page, current);
        page.entries.set(current.name, entry);
        made.push(entry.tool);
      } else {
        known.current = current;
        known.gone = false;
      }
    }
    for (const [name, entry] of page.entries) entry.gone = !listed.has(name);
    page.live = live;
    const changed = [...page.entries.values()].filter((entry) => !entry.gone && isChanged(entry));
    return {
      tools: made,
      changed: changed.map(({ tool }) => tool.name),
      problems: listing.problems,
    };
  };

  return {
    async offer(connection, listing, options) {
      return entered(await pageOf(connection), listing, options);
    },
    async remember(connection, listing) {
      const page = await pageOf(connection);
      let tools: readonly AnyTool[] | undefined;
      const make = (): readonly AnyTool[] => {
        page.make = undefined;
        tools ??= entered(page, listing, { live: false }).tools;
        return tools;
      };
      page.make = make;
      return make;
    },
    async leave(server, why) {
      const page = await pages.get(server);
      if (page === undefined) return;
      page.away = why;
      page.live = false;
    },
    extension: {
      guards: [definitionGuard(pages, judged, deps.covers), planGuard, serverOfRuleGuard],
      resolvers: [],
      rules: () => NO_RULES,
      contentOf: (toolUseId) => judged.get(toolUseId),
    },
    async close() {
      await Promise.all(storing);
    },
  };
}

type Admit = (page: Page, name: string, toolUseId: string) => Promise<Result<Admission, string>>;

async function openPage(
  connection: McpConnection,
  { approvals, fs, env, tell }: ToolBookDeps,
  admit: Admit,
): Promise<Page> {
  const approved = await approvals.read(connection.declaration);
  const page: Page = {
    connection,
    approved,
    entries: new Map(),
    make: undefined,
    live: false,
    away: undefined,
    changes: 0,
    asking: undefined,
    parts: {
      get connection() {
        return page.connection;
      },
      fs,
      env,
      tell,
      definition(name) {
        const entry = page.entries.get(name);
        if (entry === undefined) throw new Error(`there is no tool ${name}`);
        if (!isChanged(entry)) return entry.current.raw();
        const old = page.approved.definition(name);
        // fail-closed: what nobody has agreed to is not shown in its place.
        if (old === undefined) throw new Error('it has changed, and nobody has agreed to it yet');
        return old;
      },
      admit: (name, toolUseId) => admit(page, name, toolUseId),
    },
  };
  watch(page, connection);
  return page;
}

function watch(page: Page, connection: McpConnection): void {
  connection.onChange((change) => {
    if (page.connection !== connection) return;
    const isAway = change === 'state' && connection.status().state !== 'connected';
    if (change !== 'tools' && !isAway) return;
    // fail-closed: a server that was away, or says so itself, may offer something else now.
    page.live = false;
    if (change === 'tools') page.changes += 1;
  });
}

/** The same server by another connection, or another one under its name. */
async function bind(page: Page, connection: McpConnection, deps: ToolBookDeps): Promise<Page> {
  if (page.connection !== connection) {
    const approved = await deps.approvals.read(connection.declaration);
    page.make?.();
    page.connection = connection;
    page.approved = approved;
    page.live = false;
    page.changes += 1;
    for (const [name, entry] of page.entries) {
      // fail-closed: the model knows the tool as it was, so another definition of it is a changed one.
      const shown = entry.approved ?? entry.current.fingerprint;
      entry.approved = approved.fingerprint(name) ?? (approved.damaged ? undefined : shown);
    }
    watch(page, connection);
  }
  page.away = undefined;
  return page;
}

function newEntry({ parts, approved }: Page, current: ListedTool): Entry {
  return {
    current,
    approved: approved.fingerprint(current.name),
    gone: false,
    tool: mcpTool(parts, current),
  };
}

function isChanged({ approved, current }: Entry): boolean {
  return approved !== undefined && approved !== current.fingerprint;
}

/** Asks the server what it offers, unless it has said so since it was connected. */
function askAnew(
  page: Page,
  deps: ToolBookDeps,
  enter: (listing: ServerListing) => Offered,
): Promise<Result<undefined, string>> {
  if (page.live) return Promise.resolve(ok(undefined));
  page.asking ??= (async (): Promise<Result<undefined, string>> => {
    const { connection, changes } = page;
    const listed = await connection.listTools();
    if (!listed.ok) return err(listed.error.message);
    const { instructions, serverInfo } = connection.status();
    const { declaration } = connection;
    const { builtinNames } = deps;
    const tools = listed.value;
    const listing = listingOf({ declaration, tools, instructions, serverInfo, builtinNames });
    const offered = enter(listing);
    // What was said while it answered may not be in the answer.
    page.live = page.changes === changes;
    deps.onListing?.(connection, listing, offered);
    return ok(undefined);
  })().finally(() => {
    page.asking = undefined;
  });
  return page.asking;
}

/** Notes by which definition a call is judged, and holds back what nobody has agreed to in this form. */
function definitionGuard(
  pages: ReadonlyMap<string, Promise<Page>>,
  judged: Map<string, string>,
  covers: ToolBookDeps['covers'],
): Guard {
  return {
    name: 'MCP tool definitions',
    // fail-closed: whether the definition was approved could not be told.
    onFailure: 'deny',
    async decide(view) {
      const { tool, toolUseId } = view.call;
      if (tool.origin === undefined || covers?.(tool) === false) return NOTHING;
      const page = await pages.get(tool.origin.server);
      const entry = page?.entries.get(tool.origin.tool);
      if (page === undefined || entry?.tool.name !== tool.name) {
        const reason = `${tool.name} belongs to no server of this session`;
        return { decision: 'deny', refusal: 'guard-failed', reason };
      }
      judged.delete(toolUseId);
      if (page.away !== undefined) return { decision: 'deny', reason: page.away };
      judged.set(toolUseId, entry.current.fingerprint);
      for (const [oldest] of judged) {
        if (judged.size <= MOST_NOTED) break;
        judged.delete(oldest);
      }
      return findingOf(page, entry);
    },
  };
}

function findingOf(page: Page, entry: Entry): Finding {
  const { current, approved, tool } = entry;
  const server = page.connection.declaration.name;
  const ask = (what: string): Finding => ({
    decision: 'ask',
    refusal: 'approval',
    reason: `${what} To accept all definitions of the server: portcullis mcp approve ${server} --tools`,
    // The same question only while it is about the same definition.
    source: `definition ${tool.name} ${current.fingerprint.slice(0, 16)}`,
  });
  if (approved === current.fingerprint) return NOTHING;
  if (approved !== undefined) {
    const change = describeChange(page.approved.definition(current.name), current.raw());
    return ask(
      `the server "${server}" has changed the definition of ${tool.name} since it was approved: ${change}.`,
    );
  }
  // fail-closed: an approval that is lost may have been one for another definition.
  if (page.approved.damaged) {
    return ask(
      `what was approved of the server "${server}" can no longer be read, so nobody can tell whether ${tool.name} has changed.`,
    );
  }
  return NOTHING;
}

function goneText({ connection }: Page, name: string): string {
  return `The call was not made: the server "${connection.declaration.name}" no longer offers ${JSON.stringify(name)}.`;
}

function changedText({ connection }: Page, { tool }: Entry): string {
  return `The call was not made: the server "${connection.declaration.name}" describes ${tool.name} in another way than when the call was allowed. Call it again, and the new definition is judged.`;
}

/** The definition in the request stays as it was for this session; the new one is told beside it. */
function acceptedNote({ tool, current }: Entry): string | undefined {
  const checked = checkDefinition(current.raw());
  if (!checked.ok) return undefined;
  const text = JSON.stringify(definitionOf(tool.name, checked.value));
  return `The definition of ${tool.name} has changed and was accepted. It is now, in the words of its server: ${text}`;
}
