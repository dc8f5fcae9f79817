import type { SessionConfig } from '../../config/session-config.js';
import type { SessionEnvironment } from '../../config/session-environment.js';
import { reminderOf } from '../../context/prompt/reminders.js';
import { messageOf } from '../../errors.js';
import type { OpenHooks } from '../../hooks/session/session-hooks.js';
import { orAbort } from '../../lib/abort.js';
import { sortedNames } from '../../lib/sorted-names.js';
import { visible } from '../../lib/text/visible.js';
import type { ProcessSupervisor } from '../../platform/process/process.js';
import {
  type AnnouncedServer,
  type Announcement,
  deferredToolsLines,
} from '../../tools/deferral.js';
import type { ToolPool } from '../../tools/pool.js';
import type { AnyTool } from '../../tools/tool.js';
import { openToolApprovals } from '../approval/tool-approvals.js';
import { oneAtATime, problemTeller, resourcesOfServers } from '../changes.js';
import type { McpConfiguration } from '../config/types.js';
import type { ClientConnection } from '../connection/deps.js';
import { createServerControl } from '../control.js';
import { createMcpPrompts } from '../resources/prompts.js';
import type { ServerDeclaration } from '../server.js';
import { openServers } from '../servers.js';
import { openToolCache } from '../tools/cache.js';
import { hookCall } from '../tools/hook-call.js';
import { definitionTokens, fetchListing, type ServerListing } from '../tools/listing.js';
import { createToolBook, type Offered } from '../tools/registry.js';
import { connectionMaker } from './server-connections.js';

export interface McpParts {
  readonly processes: ProcessSupervisor;
  readonly hooks: OpenHooks;
  /** Whether rules deny a tool with any of these names. */
  isBanned(names: readonly string[]): boolean;
}

export interface ServerParts extends McpParts {
  readonly configuration: McpConfiguration;
  /** Reads the configuration with other servers of the host. */
  reload(dynamic: SessionConfig['mcpConfig']): Promise<McpConfiguration>;
}

/** A start that takes longer shows what it waits for. */
const PATIENCE_MS = 2_000;
const NOTHING_CHANGED: Pick<Offered, 'changed' | 'saysOther'> = { changed: [], saysOther: false };

/** The servers of a session and their tools; loaded only when there are any. */
export function openServersOfSession(
  config: SessionConfig,
  environment: SessionEnvironment,
  parts: ServerParts,
) {
  const { fs, stateDirectory } = environment;
  const { isBanned } = parts;
  const { tell } = parts.hooks;
  const tellProblems = problemTeller(tell);
  const listings = new Map<string, ServerListing>();
  const changed = new Map<string, Pick<Offered, 'changed' | 'saysOther'>>();
  let onTools: ((tools: readonly AnyTool[]) => void) | undefined;
  let onPrompts: (() => void) | undefined;
  /** Tools that arrived before a listener was set. */
  const early: AnyTool[] = [];
  const arrived = (tools: readonly AnyTool[]): void => {
    if (onTools === undefined) early.push(...tools);
    else if (tools.length > 0) onTools(tools);
  };
  const cache = openToolCache({ fs, stateDirectory });
  const remember = (declaration: ServerDeclaration, listing: ServerListing): void => {
    listings.set(declaration.name, listing);
    if (declaration.entry?.type === 'sdk') return;
    void cache.write(declaration, listing).catch((thrown: unknown) => {
      tell(`what "${declaration.name}" offers could not be remembered: ${messageOf(thrown)}`);
    });
  };
  const took = (declaration: ServerDeclaration, found: ServerListing, offered: Offered): void => {
    const { name } = declaration;
    changed.set(name, offered);
    tellProblems(name, counted(offered.problems));
    const { instructions } = offered;
    remember(declaration, { ...found, instructions, hasResources: resources.has(name) });
  };
  const book = createToolBook({
    fs,
    approvals: openToolApprovals({ fs, stateDirectory }),
    env: environment.env,
    // Servers of agents have their own tool books.
    covers: ({ origin }) => origin?.ofAgent !== true,
    tell,
    onListing({ declaration }, listing, offered) {
      if (servers.find(declaration.name) !== undefined) took(declaration, listing, offered);
      arrived(offered.tools);
    },
  });
  /** Lists a server's tools and returns the new ones. */
  const ask = async (connection: ClientConnection): Promise<readonly AnyTool[]> => {
    const { declaration } = connection;
    const listing = await fetchListing(connection);
    if (!listing.ok) {
      tellProblems(declaration.name, [listing.error.message]);
      return [];
    }
    if (!resources.isAsked(declaration.name)) await resources.ask(connection);
    const offered = book.offer(connection, listing.value, { live: true });
    took(declaration, listing.value, offered);
    return offered.tools;
  };
  const whenChanged = {
    tools: oneAtATime<ClientConnection>(async (connection) => arrived(await ask(connection))),
    resources: oneAtATime<ClientConnection>(async (connection) => {
      if (!listings.has(connection.declaration.name)) return;
      await resources.ask(connection);
      arrived(resources.tools([connection]));
    }),
    prompts: oneAtATime<ClientConnection>(async () => onPrompts?.()),
    state: () => undefined,
  };
  const servers = openServers({
    declarations: parts.configuration.servers,
    open: connectionMaker(config, environment, parts),
    onChange: (connection, change) => whenChanged[change](connection),
  });

  /** Connects a server and returns its new tools. */
  const bringUp = async (connection: ClientConnection): Promise<readonly AnyTool[]> => {
    // Goes through `servers` for its limit on concurrent connects.
    await servers.connect([connection]);
    const { name, state, error } = connection.status();
    if (state === 'connected' || state === 'pending')
      return [...(await ask(connection)), ...resources.tools([connection])];
    // Listing would start the failed server again and wait as long.
    tellProblems(name, error === undefined ? [] : [error]);
    return [];
  };
  /** Offers a server's cached tools; undefined without a cached list. */
  const remembered = (connection: ClientConnection): readonly AnyTool[] | undefined => {
    const { declaration } = connection;
    const listing = declaration.entry?.type === 'sdk' ? undefined : cache.read(declaration);
    if (listing === undefined) return undefined;
    listings.set(declaration.name, listing);
    if (listing.hasResources === true) resources.note(declaration.name);
    return book.offer(connection, listing, { live: false }).tools;
  };
  let answered: Promise<unknown> = Promise.resolve();
  /** Returns the tools known before the first request; slower servers add theirs later. */
  const start = async (): Promise<readonly AnyTool[]> => {
    const connections = servers.connections();
    const known = connections.map(remembered);
    const fresh = connections.filter((_, index) => known[index] === undefined);
    const tools = [...resources.tools(connections), ...known.flatMap((one) => one ?? [])];
    if (fresh.length === 0 || config.startServers === false) return tools;
    const found: (readonly AnyTool[])[] = [];
    let isLate = false;
    answered = Promise.all(
      fresh.map(async (connection, at) => {
        const brought = await bringUp(connection);
        if (isLate) arrived(brought);
        else found[at] = brought;
      }),
    );
    const { serversMayComeLater: later } = config;
    if (later === undefined || later === false) {
      const names = fresh.map(({ declaration }) => `"${visible(declaration.name)}"`).join(', ');
      const text = `waiting for the first answer of ${names}; later starts do not wait`;
      const notice = setTimeout(() => tell(text), PATIENCE_MS);
      await answered.finally(() => clearTimeout(notice));
    } else if (typeof later === 'number' && later > 0)
      await orAbort(answered, AbortSignal.timeout(later)).catch(() => {});
    isLate = true;
    return [...tools, ...found.flat()];
  };
  const usable = (): readonly ClientConnection[] =>
    servers
      .connections()
      .filter(
        ({ declaration }) => !isBanned([`mcp__${declaration.key}`, `mcp__${declaration.key}__*`]),
      );
  const resources = resourcesOfServers({ connections: usable, fs });
  const started = start();
  return {
    started,
    extension: book.extension,
    servers,
    statuses: servers.statuses,
    isEmpty: servers.isEmpty,
    connections: usable,
    prompts: createMcpPrompts({ connections: usable }),
    /** Sets the listener for changed prompts. */
    onPrompts(listener: () => void): void {
      onPrompts = listener;
    },
    /** The estimated tokens of all deferrable definitions. */
    definitionsTokens: () => definitionTokens(listings.values()),
    /** Sets the listener for tools that arrive after the start. */
    onTools(listener: (tools: readonly AnyTool[]) => void): void {
      onTools = listener;
      arrived(early.splice(0));
    },
    /** Lists the deferred tools and quotes the servers' instructions. */
    announcement(pool: ToolPool): string | undefined {
      const lines = deferredToolsLines({ occasion: 'start', ...announced(pool, listings) });
      return lines.length === 0 ? undefined : reminderOf(lines);
    },
    announceLater(tools: readonly AnyTool[]): string | undefined {
      const names = namesOf(tools);
      const lines = deferredToolsLines({ occasion: 'later', names, servers: [] });
      return lines.length === 0 ? undefined : reminderOf(lines);
    },
    /** Tells the model which servers failed. */
    notes: (): readonly string[] =>
      servers
        .statuses()
        .flatMap(({ name, state, error }) =>
          state === 'failed' || state === 'needs-auth'
            ? [`The server "${visible(name)}" cannot be used: ${error ?? state}`]
            : [],
        ),
    /** Resolves when all pending servers have connected or failed. */
    settle: async (signal: AbortSignal): Promise<void> => {
      const over = new Promise<void>((resolve) => {
        signal.addEventListener('abort', () => resolve(), { once: true });
      });
      await Promise.race([started.then(() => answered), over]);
    },
    callForHook: hookCall({
      find: (name) => usable().find((one) => one.declaration.name === name),
      isBanned,
      vouch: book.vouch,
    }),
    rootsChanged: servers.rootsChanged,
    ask,
    /** The last known tools of a server. */
    listing: (name: string) => listings.get(name),
    changed: (name: string) => changed.get(name) ?? NOTHING_CHANGED,
    /** Records that a person accepted a server's new instructions, which apply from the next session on. */
    wordsAccepted(connection: ClientConnection, words: string): void {
      const { declaration } = connection;
      const listing = listings.get(declaration.name);
      if (listing !== undefined) remember(declaration, { ...listing, instructions: words });
    },
    control: createServerControl({
      servers,
      book,
      listings,
      configuration: parts.configuration,
      async answered() {
        await started;
        await answered;
      },
      reload: (table) =>
        parts.reload([table, ...(config.mcpConfig ?? []).filter((one) => typeof one === 'string')]),
      bringUp: async (fresh) => arrived((await Promise.all(fresh.map(bringUp))).flat()),
    }),
    async close(): Promise<void> {
      await Promise.all([book.close(), cache.close()]);
      await servers.close();
    },
  };
}

/** Merges equal problems, such as those of unnamed tools. */
function counted(problems: readonly string[]): readonly string[] {
  const times = new Map<string, number>();
  for (const problem of problems) times.set(problem, (times.get(problem) ?? 0) + 1);
  return [...times].map(([problem, count]) =>
    count === 1 ? problem : `${problem} (${count} times)`,
  );
}

export type OpenServersOfSession = ReturnType<typeof openServersOfSession>;

function announced(
  pool: ToolPool,
  listings: ReadonlyMap<string, ServerListing>,
): Pick<Announcement, 'names' | 'servers'> {
  // Servers without any offered tool are not announced.
  const heard = new Set(pool.tools.flatMap(({ origin }) => origin?.server ?? []));
  const servers: AnnouncedServer[] = [];
  listings.forEach(({ instructions }, name) => {
    if (heard.has(name)) servers.push({ name, instructions });
  });
  return { names: namesOf(pool.deferred), servers };
}

function namesOf(tools: readonly AnyTool[]): readonly string[] {
  return sortedNames(tools.map(({ name }) => name));
}
