import type { SessionConfig } from '../../config/session-config.js';
import type { SessionEnvironment } from '../../config/session-environment.js';
import { reminderOf } from '../../context/prompt/reminders.js';
import { messageOf } from '../../errors.js';
import type { OpenHooks } from '../../hooks/session/session-hooks.js';
import { orAbort } from '../../lib/abort.js';
import { sortedNames } from '../../lib/sorted-names.js';
import { visible } from '../../lib/visible.js';
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
  /** Whether rules take a tool with these names away. */
  isBanned(names: readonly string[]): boolean;
}

export interface ServerParts extends McpParts {
  readonly configuration: McpConfiguration;
  /** The configuration with other servers of the host. */
  reload(dynamic: SessionConfig['mcpConfig']): Promise<McpConfiguration>;
}

/** A first start that takes longer is told of: nobody should wonder what the program waits for. */
const PATIENCE_MS = 2_000;
const NOTHING_CHANGED: Pick<Offered, 'changed' | 'saysOther'> = { changed: [], saysOther: false };

/** The servers of a session with their tools. Loaded only where there are any. */
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
  const waiting: ((tools: readonly AnyTool[]) => void)[] = [];
  const promptListeners: (() => void)[] = [];
  let early: AnyTool[] = [];
  const arrived = (tools: readonly AnyTool[]): void => {
    if (tools.length === 0) return;
    if (waiting.length === 0) early.push(...tools);
    for (const listener of waiting) listener(tools);
  };
  const cache = openToolCache({ fs, stateDirectory });
  const took = (connection: ClientConnection, found: ServerListing, offered: Offered): void => {
    const { declaration } = connection;
    const { instructions } = offered;
    changed.set(declaration.name, offered);
    tellProblems(declaration.name, counted(offered.problems));
    remember(declaration, {
      ...found,
      instructions,
      hasResources: resources.has(declaration.name),
    });
  };
  const remember = (declaration: ServerDeclaration, listing: ServerListing): void => {
    listings.set(declaration.name, listing);
    if (declaration.entry?.type === 'sdk') return;
    void cache.write(declaration, listing).catch((thrown: unknown) => {
      tell(`what "${declaration.name}" offers could not be remembered: ${messageOf(thrown)}`);
    });
  };
  const book = createToolBook({
    fs,
    approvals: openToolApprovals({ fs, stateDirectory }),
    env: environment.env,
    // What agents bring for themselves is answered for by their own books.
    covers: ({ origin }) => origin?.ofAgent !== true,
    tell,
    onListing(connection, listing, offered) {
      const known = servers.find(connection.declaration.name);
      if (known !== undefined) took(known, listing, offered);
      arrived(offered.tools);
    },
  });
  const servers = openServers({
    declarations: parts.configuration.servers,
    open: connectionMaker(config, environment, parts),
    onChange(connection, change) {
      if (change === 'tools') toolsChanged(connection);
      if (change === 'resources') resourcesChanged(connection);
      if (change === 'prompts') promptsChanged(connection);
    },
  });

  /** Asks a server for its tools; those that were not known before. */
  const ask = async (connection: ClientConnection): Promise<readonly AnyTool[]> => {
    const { declaration } = connection;
    const listing = await fetchListing(connection);
    if (!listing.ok) {
      tellProblems(declaration.name, [listing.error.message]);
      return [];
    }
    if (!resources.isAsked(declaration.name)) await resources.ask(connection);
    const offered = book.offer(connection, listing.value, { live: true });
    took(connection, listing.value, offered);
    return offered.tools;
  };
  const toolsChanged = oneAtATime<ClientConnection>(async (connection) => {
    arrived(await ask(connection));
  });
  const resourcesChanged = oneAtATime<ClientConnection>(async (connection) => {
    if (!listings.has(connection.declaration.name)) return;
    await resources.ask(connection);
    arrived(resources.tools([connection]));
  });
  const promptsChanged = oneAtATime<ClientConnection>(async () => {
    for (const listener of promptListeners) listener();
  });
  const firstTime = async (connections: readonly ClientConnection[]) => {
    const found = await Promise.all(
      connections.map(async (connection) => {
        // Bounded in number.
        await servers.connect([connection]);
        const { name, state, error } = connection.status();
        if (state === 'connected' || state === 'pending') return await ask(connection);
        // To ask would be to start it once more, and to wait as long again.
        tellProblems(name, error === undefined ? [] : [error]);
        return [];
      }),
    );
    return found.flat();
  };
  /** The tools that a server had the last time; undefined when nothing is known of it. */
  const remembered = (connection: ClientConnection): readonly AnyTool[] | undefined => {
    const { declaration } = connection;
    if (declaration.entry?.type === 'sdk') return undefined;
    const listing = cache.read(declaration);
    if (listing === undefined) return undefined;
    listings.set(declaration.name, listing);
    if (listing.hasResources === true) resources.note(declaration.name);
    return book.offer(connection, listing, { live: false }).tools;
  };
  let answered: Promise<unknown> = Promise.resolve();
  /** The tools of those that answer in time; those of the others join later. */
  const inTime = async (fresh: readonly ClientConnection[], ms: number) => {
    const found = new Map<ClientConnection, readonly AnyTool[]>();
    let isLate = false;
    const first = Promise.all(
      fresh.map(async (connection) => {
        const tools = [...(await firstTime([connection])), ...resources.tools([connection])];
        if (isLate) arrived(tools);
        else found.set(connection, tools);
      }),
    );
    answered = first;
    if (ms > 0) await orAbort(first, AbortSignal.timeout(ms)).catch(() => {});
    isLate = true;
    return fresh.flatMap((connection) => found.get(connection) ?? []);
  };
  /** All tools that are known before the first request. */
  const start = async (): Promise<readonly AnyTool[]> => {
    const connections = servers.connections();
    const found = connections.map(remembered);
    const fresh = connections.filter((_, index) => found[index] === undefined);
    const tools = [...resources.tools(connections), ...found.flatMap((known) => known ?? [])];
    if (fresh.length === 0 || config.startServers === false) return tools;
    const { serversMayComeLater: later } = config;
    const patienceMs = typeof later === 'number' ? later : later === true ? 0 : undefined;
    if (patienceMs !== undefined) return [...tools, ...(await inTime(fresh, patienceMs))];
    const first = firstTime(fresh);
    const names = fresh.map(({ declaration }) => `"${visible(declaration.name)}"`).join(', ');
    const patience = setTimeout(() => {
      tell(`waiting for the first answer of ${names}; later starts do not wait`);
    }, PATIENCE_MS);
    try {
      return [...tools, ...(await first), ...resources.tools(fresh)];
    } finally {
      clearTimeout(patience);
    }
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
    /** A server says that its prompts are others now. */
    onPrompts: (listener: () => void): void => void promptListeners.push(listener),
    /** Characters of all definitions that may be deferred, in tokens. */
    definitionsTokens: () => definitionTokens(listings.values()),
    /** Tools that come after the start. */
    onTools(listener: (tools: readonly AnyTool[]) => void): void {
      waiting.push(listener);
      const tools = early;
      early = [];
      if (tools.length > 0) listener(tools);
    },
    /** The text that names deferred tools and quotes what servers say of themselves. */
    announcement(pool: ToolPool): string | undefined {
      const lines = deferredToolsLines({ occasion: 'start', ...announced(pool, listings) });
      return lines.length === 0 ? undefined : reminderOf(lines);
    },
    announceLater(tools: readonly AnyTool[]): string | undefined {
      const names = namesOf(tools);
      const lines = deferredToolsLines({ occasion: 'later', names, servers: [] });
      return lines.length === 0 ? undefined : reminderOf(lines);
    },
    /** Servers that the model may wonder about. */
    notes: (): readonly string[] =>
      servers
        .statuses()
        .flatMap(({ name, state, error }) =>
          state === 'failed' || state === 'needs-auth'
            ? [`The server "${visible(name)}" cannot be used: ${error ?? state}`]
            : [],
        ),
    /** Resolves once servers that are being connected are there or have failed. */
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
    /** What is known of a server's tools; those among them that are not as they were approved. */
    listing: (name: string) => listings.get(name),
    changed: (name: string) => changed.get(name) ?? NOTHING_CHANGED,
    /** Somebody has accepted what a server says about the use of its tools: the next session tells it. */
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
      bringUp: async (fresh) => arrived([...(await firstTime(fresh)), ...resources.tools(fresh)]),
    }),
    async close(): Promise<void> {
      await Promise.all([book.close(), cache.close()]);
      await servers.close();
    },
  };
}

/** Tools without a name are all told of in the same words. */
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
  // A server that offers nothing, or whose tools are all denied, has nothing to say here.
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
