import type { SessionConfig } from '../agents/session-config.js';
import { reminder } from '../context/reminders.js';
import { join } from '../env/paths.js';
import type { ProcessSupervisor } from '../env/process.js';
import { createWebFetch } from '../env/web-fetch.js';
import { messageOf } from '../errors.js';
import { createElicitationHooks } from '../hooks/elicitation-hooks.js';
import type { McpRunnerDeps } from '../hooks/mcp-runner.js';
import type { InputMessage } from '../loop/types.js';
import type { McpConfiguration } from '../mcp/config-types.js';
import { type ClientConnection, createConnection } from '../mcp/connection.js';
import { createElicit } from '../mcp/elicitation.js';
import { createHeadersHelper } from '../mcp/headers-helper.js';
import { findMentions, resolveMentions } from '../mcp/mentions.js';
import { createServerAuth } from '../mcp/oauth.js';
import { createMcpPrompts } from '../mcp/prompts.js';
import { offersResources, resourceTools } from '../mcp/resources.js';
import type { ServerDeclaration } from '../mcp/server.js';
import { openServers } from '../mcp/servers.js';
import { openToolApprovals } from '../mcp/tool-approvals.js';
import { createToolBook, type Offered } from '../mcp/tool-book.js';
import { openToolCache } from '../mcp/tool-cache.js';
import { definitionTokens, listingOf, type ServerListing } from '../mcp/tool-listing.js';
import { toolNames } from '../mcp/tool-names.js';
import { RULE_TOOLS } from '../permissions/rule-tools.js';
import { textOf, type UserBlock } from '../protocol/content.js';
import { type AnnouncedServer, deferredToolsReminder } from '../tools/deferral.js';
import type { ToolPool } from '../tools/pool.js';
import type { AnyTool } from '../tools/tool.js';
import { err, ok } from '../util/result.js';
import { visible } from '../util/visible.js';
import { VERSION } from '../version.js';
import type { Ground } from './ground.js';
import type { OpenHooks } from './hooks.js';
import { createServerControl } from './mcp-control.js';

export interface McpParts {
  readonly processes: ProcessSupervisor;
  readonly hooks: OpenHooks;
  readonly sessionId: string;
  /** A directory of the session for what is too long to show. */
  spillDirectory(): string;
}

export interface ServerParts extends McpParts {
  readonly configuration: McpConfiguration;
  /** The configuration with other servers of the host. */
  reload(dynamic: SessionConfig['mcpConfig']): Promise<McpConfiguration>;
}

/** A first start that takes longer is told of: nobody should wonder what the program waits for. */
const PATIENCE_MS = 2_000;
const BUILTIN_NAMES = Object.keys(RULE_TOOLS);

/** The servers of a session with their tools. Loaded only where there are any. */
export function openServersOfSession(config: SessionConfig, ground: Ground, parts: ServerParts) {
  const { fs, stateDirectory } = ground;
  const { tell } = parts.hooks;
  const listings = new Map<string, ServerListing>();
  const changed = new Map<string, readonly string[]>();
  const waiting: ((tools: readonly AnyTool[]) => void)[] = [];
  let isBanned: (names: readonly string[]) => boolean = () => false;
  let early: AnyTool[] = [];
  const arrived = (tools: readonly AnyTool[]): void => {
    if (tools.length === 0) return;
    if (waiting.length === 0) early.push(...tools);
    for (const listener of waiting) listener(tools);
  };
  const cache = openToolCache({ fs, stateDirectory });
  const took = (connection: ClientConnection, listing: ServerListing, offered: Offered): void => {
    const { declaration } = connection;
    listings.set(declaration.name, listing);
    changed.set(declaration.name, offered.changed);
    for (const problem of offered.problems) tell(problem);
    if (declaration.entry?.type !== 'sdk') {
      void cache.write(declaration, listing).catch((thrown: unknown) => {
        tell(`what "${declaration.name}" offers could not be remembered: ${messageOf(thrown)}`);
      });
    }
  };
  const book = createToolBook({
    fs,
    approvals: openToolApprovals({ fs, stateDirectory }),
    env: ground.env,
    builtinNames: BUILTIN_NAMES,
    tell,
    onListing(connection, listing, offered) {
      const known = servers.find(connection.declaration.name);
      if (known !== undefined) took(known, listing, offered);
      arrived(offered.tools);
    },
  });
  const servers = openServers({
    declarations: parts.configuration.servers,
    open: connectionMaker(config, ground, parts),
    onChange(connection, change) {
      if (change === 'tools') void ask(connection).then(arrived);
    },
  });

  /** Asks a server for its tools; those that were not known before. */
  const ask = async (connection: ClientConnection): Promise<readonly AnyTool[]> => {
    const { declaration } = connection;
    const listed = await connection.listTools();
    if (!listed.ok) {
      tell(listed.error.message);
      return [];
    }
    const { instructions, serverInfo } = connection.status();
    const tools = listed.value;
    const builtinNames = BUILTIN_NAMES;
    const listing = listingOf({ declaration, tools, instructions, serverInfo, builtinNames });
    const offered = await book.offer(connection, listing, { live: true });
    took(connection, listing, offered);
    return offered.tools;
  };
  const firstTime = async (connections: readonly ClientConnection[]) => {
    const found = await Promise.all(
      connections.map(async (connection) => {
        // Bounded in number; one that fails says so when it is asked for its tools.
        await servers.connect([connection]);
        return await ask(connection);
      }),
    );
    return found.flat();
  };
  const remembered = async (
    connection: ClientConnection,
  ): Promise<readonly AnyTool[] | undefined> => {
    const { declaration } = connection;
    if (declaration.entry?.type === 'sdk') return undefined;
    const listing = await cache.read(declaration);
    if (listing === undefined) return undefined;
    const offered = await book.offer(connection, listing, { live: false });
    listings.set(declaration.name, listing);
    return offered.tools;
  };
  /** All tools that are known before the first request. */
  const start = async (): Promise<readonly AnyTool[]> => {
    const connections = servers.connections();
    const known = await Promise.all(connections.map(remembered));
    const fresh = connections.filter((_, index) => known[index] === undefined);
    const tools = known.flatMap((one) => one ?? []);
    if (fresh.length === 0 || config.startServers === false) return tools;
    const first = firstTime(fresh);
    if (config.serversMayComeLater === true) {
      void first.then(async (late) => arrived([...late, ...(await resources(fresh))]));
      return tools;
    }
    const names = fresh.map(({ declaration }) => `"${visible(declaration.name)}"`).join(', ');
    const patience = setTimeout(() => {
      tell(`waiting for the first answer of ${names}; later starts do not wait`);
    }, PATIENCE_MS);
    try {
      return [...tools, ...(await first), ...(await resources(fresh))];
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
  const resourcePair = resourceTools({ connections: usable, fs });
  let offersPair = false;
  const resources = async (
    connections: readonly ClientConnection[],
  ): Promise<readonly AnyTool[]> => {
    const connected = connections.filter((one) => one.status().state === 'connected');
    if (offersPair || !(await offersResources(connected)) || offersPair) return [];
    offersPair = true;
    return [resourcePair.list, resourcePair.read];
  };

  const started = start();
  return {
    started,
    extension: book.extension,
    servers,
    statuses: servers.statuses,
    connections: usable,
    prompts: createMcpPrompts({ connections: usable }),
    /** Characters of all definitions that may be deferred, in tokens. */
    definitionsTokens: () => definitionTokens([...listings.values()].flatMap(({ tools }) => tools)),
    /** What exists only once the gate does. */
    lend(lent: { isBanned(names: readonly string[]): boolean }): void {
      isBanned = lent.isBanned;
    },
    /** Tools that come after the start. */
    onTools(listener: (tools: readonly AnyTool[]) => void): void {
      waiting.push(listener);
      const tools = early;
      early = [];
      if (tools.length > 0) listener(tools);
    },
    /** The text that names deferred tools and quotes what servers say of themselves. */
    announcement(pool: ToolPool): string | undefined {
      const text = deferredToolsReminder({ occasion: 'start', servers: announced(pool, listings) });
      return text === undefined ? undefined : reminder(text);
    },
    announceLater(tools: readonly AnyTool[]): string | undefined {
      const names = tools.map(({ name }) => name);
      const text = deferredToolsReminder({
        occasion: 'later',
        servers: [{ name: '', tools: names }],
      });
      return text === undefined ? undefined : reminder(text);
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
      await Promise.race([started.then(() => undefined), over]);
    },
    callForHook: hookCall(
      (name) => usable().find((one) => one.declaration.name === name),
      (names) => isBanned(names),
    ),
    /** What prompts of a person name as `@server:uri`. */
    async attached(prompts: readonly InputMessage[], signal: AbortSignal): Promise<UserBlock[]> {
      const typed = prompts
        .filter(({ meta }) => meta !== true)
        .map(({ content }) => textOf(content));
      const names = usable().map(({ declaration }) => declaration.name);
      const mentions = typed.flatMap((text) => findMentions(text, names));
      if (mentions.length === 0) return [];
      const blocks = await resolveMentions(mentions, {
        connections: usable(),
        signal,
        async save(name, bytes) {
          const file = join(parts.spillDirectory(), name);
          await fs.writeAtomic(file, bytes, { mode: 0o600 });
          return file;
        },
        // fail-closed: what the model may not read is not read for it either.
        refuse: () =>
          isBanned(['ReadMcpResourceTool']) ? 'ReadMcpResourceTool is denied' : undefined,
      });
      for (const { failure } of blocks) if (failure !== undefined) tell(failure);
      return blocks.map(({ text }) => ({ type: 'text', text }));
    },
    rootsChanged: servers.rootsChanged,
    ask,
    /** What is known of a server's tools; those among them that are not as they were approved. */
    listing: (name: string) => listings.get(name),
    changed: (name: string): readonly string[] => changed.get(name) ?? [],
    control: createServerControl({
      servers,
      book,
      listings,
      configuration: parts.configuration,
      reload: (table) =>
        parts.reload([table, ...(config.mcpConfig ?? []).filter((one) => typeof one === 'string')]),
      bringUp: async (fresh) => arrived([...(await firstTime(fresh)), ...(await resources(fresh))]),
    }),
    async close(): Promise<void> {
      await book.close();
      await servers.close();
    },
  };
}

export type OpenServersOfSession = ReturnType<typeof openServersOfSession>;

function announced(
  pool: ToolPool,
  listings: ReadonlyMap<string, ServerListing>,
): readonly AnnouncedServer[] {
  const deferred = new Map<string, string[]>();
  for (const { name, origin } of pool.deferred) {
    const names = deferred.get(origin?.server ?? '') ?? [];
    names.push(name);
    deferred.set(origin?.server ?? '', names);
  }
  // A server whose tools are all denied has nothing to say here.
  const heard = new Set(pool.tools.flatMap(({ origin }) => origin?.server ?? []));
  return [...new Set([...deferred.keys(), ...heard])].map((name) => ({
    name,
    tools: deferred.get(name) ?? [],
    instructions: listings.get(name)?.instructions,
  }));
}

/** Calls that hooks have made by tools of servers. Settings chose the tool; a deny still holds. */
function hookCall(
  find: (server: string) => ClientConnection | undefined,
  isBanned: (names: readonly string[]) => boolean,
): NonNullable<McpRunnerDeps['call']> {
  return async (server, tool, input, signal) => {
    const connection = find(server);
    if (connection === undefined) return err(`no MCP server "${visible(server)}" is connected`);
    const { name } = toolNames(connection.declaration.key, tool);
    // fail-closed: a tool that nobody may use is not used by a hook either.
    if (isBanned([name])) return err(`${name} is denied`);
    const called = await connection.call({ tool, arguments: input }, signal);
    if (!called.ok) return err(called.error.message);
    const { content, structuredContent, isError } = called.value;
    const texts = content.flatMap((block) => (typeof block.text === 'string' ? [block.text] : []));
    return ok({
      text: texts.join('\n'),
      isError: isError === true,
      ...(structuredContent === undefined ? {} : { structured: structuredContent }),
    });
  };
}

/** Makes connections with all that each kind of server needs. */
function connectionMaker(
  config: SessionConfig,
  ground: Ground,
  parts: ServerParts,
): (declaration: ServerDeclaration) => ClientConnection {
  const { env, workspace, fs, clock, stateDirectory } = ground;
  const { hooks } = parts;
  const tell = hooks.tell;
  const ask = config.elicit;
  const elicit = createElicit({
    hooks: createElicitationHooks({ dispatch: hooks.dispatch, tell }),
    scene: hooks.scene,
    onNote: tell,
    clock,
    ...(ask === undefined ? {} : { ask }),
  });
  return (declaration) => {
    const { entry, name } = declaration;
    const isRemote = entry !== undefined && 'url' in entry;
    const auth =
      isRemote && entry.type !== 'ws'
        ? createServerAuth(
            { name, entry },
            { fs, stateDirectory, clock, fetch: createWebFetch({ environment: env }) },
          )
        : undefined;
    const headers = isRemote
      ? createHeadersHelper(
          { name, scope: declaration.scope, entry },
          {
            processes: parts.processes,
            env,
            cwd: config.cwd,
            trusted: ground.trust.now,
            platform: ground.host.os,
          },
        )
      : undefined;
    const bridge = entry?.type === 'sdk' ? config.mcpBridge?.(name) : undefined;
    return createConnection(declaration, {
      processes: parts.processes,
      env,
      cwd: config.cwd,
      clock,
      roots: () => workspace.roots,
      elicit,
      log: join(stateDirectory, 'mcp-logs', `${declaration.key}.log`),
      clientInfo: { name: 'portcullis', version: VERSION },
      ...(auth === undefined
        ? {}
        : {
            authProvider: auth.provider,
            stepUp: auth.stepUp,
            refreshAuth: auth.refresh,
          }),
      ...(headers === undefined ? {} : { headers }),
      ...(bridge === undefined ? {} : { sdkTransport: bridge }),
    });
  };
}
