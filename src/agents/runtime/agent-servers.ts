import type { SessionConfig } from '../../config/session-config.js';
import type { SessionEnvironment } from '../../config/session-environment.js';
import type { OpenHooks } from '../../hooks/session/session-hooks.js';
import { visible } from '../../lib/text/visible.js';
import type { ClientConnection } from '../../mcp/connection/deps.js';
import type { BroughtServers } from '../../mcp/tools/agent-servers.js';
import type { Offered, ToolBook } from '../../mcp/tools/registry.js';
import { type Guard, NOTHING } from '../../permissions/gate/guard.js';
import { nearestAbove } from '../../permissions/gate/modes.js';
import type { GateExtension } from '../../permissions/gate/open.js';
import { NO_RULES } from '../../permissions/rules/rule.js';
import { join } from '../../platform/fs/paths.js';
import type { ProcessSupervisor } from '../../platform/process/process.js';
import type { AgentRef } from '../../protocol/agent-ref.js';
import { fatalOf, managedSettingsDirectory } from '../../settings/files/load.js';
import { describeProblem } from '../../settings/types.js';
import type { AnyTool } from '../../tools/tool.js';
import type { AgentDefinition } from '../definitions/definition.js';
import { mayExecute } from '../limits/inherited-hooks.js';

interface Needs {
  readonly processes: ProcessSupervisor;
  readonly hooks: OpenHooks;
  /** Names of the session's own servers. */
  taken(): readonly string[];
}

/** The servers that an agent's definition declares. */
export interface ChildServers {
  readonly tools: readonly AnyTool[];
  /** Servers that could not be connected, for people. */
  readonly notes: readonly string[];
  close(): Promise<void>;
}

/** Connects servers that definitions declare: for one agent, visible to it and its forks, closed when it ends. */
export function openAgentServers(
  config: SessionConfig,
  environment: SessionEnvironment,
  needs: Needs,
) {
  /** The tools of each agent's servers, by the agent's path. */
  const books = new Map<string, ToolBook>();
  /** Its guard decides calls of such servers' tools, so it must be part of the gate. */
  const extension: GateExtension = {
    guards: [guardOf(books)],
    resolvers: [],
    rules: () => NO_RULES,
    contentOf: (toolUseId) =>
      [...books.values()]
        .map((book) => book.extension.contentOf?.(toolUseId))
        .find((content) => content !== undefined),
  };
  return {
    extension,
    async serversFor(
      ref: AgentRef,
      definition: AgentDefinition,
      signal: AbortSignal,
    ): Promise<ChildServers> {
      const taken = needs.taken();
      const isBrought = definition.mcpServers.some((server) => 'config' in server);
      const refusal = isBrought ? await refusalFor(config, environment, definition) : undefined;
      const notes = definition.mcpServers
        .filter((server) => !('config' in server) && !taken.includes(server.name))
        .map(({ name }) => `there is no server "${visible(name)}" in this session`);
      if (refusal !== undefined) notes.push(refusal);
      if (!isBrought || refusal !== undefined)
        return { tools: [], notes, close: async () => undefined };
      const { book, connections, ...opened } = await connectAll(config, environment, {
        needs,
        definition,
        signal,
      });
      books.set(ref.path, book);
      return {
        tools: opened.tools,
        notes: [...notes, ...opened.notes],
        async close() {
          books.delete(ref.path);
          await book.close();
          await Promise.all(connections.map((connection) => connection.close()));
        },
      };
    },
  };
}

/** Why none of a definition's servers may be used. */
async function refusalFor(
  config: SessionConfig,
  environment: SessionEnvironment,
  definition: AgentDefinition,
): Promise<string | undefined> {
  const managed = join(managedSettingsDirectory(environment.host.os), 'managed-mcp.json');
  // fail-closed: a definition whose trust was not checked may not execute.
  if (!mayExecute(definition))
    return 'its servers are not used: the folder of its file is not trusted';
  if (config.strictMcpConfig === true)
    return 'its servers are not used: only those of --mcp-config are (--strict-mcp-config)';
  if (definition.source !== 'managed' && (await environment.fs.stat(managed)) !== undefined)
    return 'its servers are not used: an administrator keeps the list (managed-mcp.json)';
  return undefined;
}

/** Connects all servers; one failure does not affect the others. Imported with the first agent that declares some. */
async function connectAll(
  config: SessionConfig,
  environment: SessionEnvironment,
  how: {
    readonly needs: Needs;
    readonly definition: AgentDefinition;
    readonly signal: AbortSignal;
  },
) {
  const { needs, definition, signal } = how;
  const [{ declarations, notes }, { createToolBook }, { openToolApprovals }, more] =
    await Promise.all([
      declared(config, environment, { taken: needs.taken(), definition }),
      import('../../mcp/tools/registry.js'),
      import('../../mcp/approval/tool-approvals.js'),
      import('../../mcp/session/server-connections.js'),
    ]);
  const { fs, stateDirectory, env } = environment;
  const approvals = openToolApprovals({ fs, stateDirectory });
  const book = createToolBook({ fs, approvals, env, tell: needs.hooks.tell });
  const connections = declarations.map(more.connectionMaker(config, environment, needs));
  const abort = (): void => {
    for (const connection of connections) void connection.close();
  };
  signal.addEventListener('abort', abort, { once: true });
  const asked = await Promise.all(connections.map((connection) => toolsOf(connection, book)));
  signal.removeEventListener('abort', abort);
  return {
    book,
    connections,
    tools: asked.flatMap(({ tools }) => tools),
    notes: [...notes, ...asked.flatMap(({ problems }) => problems)],
  };
}

/** The servers that may be connected, by the allow and deny lists and the environment they would get. */
async function declared(
  config: SessionConfig,
  environment: SessionEnvironment,
  { taken, definition }: { taken: readonly string[]; definition: AgentDefinition },
): Promise<BroughtServers> {
  const [{ readBrought }, { readServerLists }] = await Promise.all([
    import('../../mcp/tools/agent-servers.js'),
    import('../../mcp/config/server-lists.js'),
  ]);
  const { source, file, line } = definition;
  const { lists, problems } = readServerLists(environment.settings.values, config.env);
  const [broken] = fatalOf(problems);
  if (broken !== undefined) {
    // fail-closed: it is unknown what a broken list forbids. A session without servers has not checked it yet.
    const why = visible(describeProblem(broken));
    return { declarations: [], notes: [`its servers are not used: ${why}`] };
  }
  const variables = {
    ...environment.env,
    CLAUDE_PROJECT_DIR: await environment.fs.realPath(config.cwd),
  };
  return readBrought(
    definition.mcpServers.filter((server) => 'config' in server),
    { file, line, ofProject: source === 'project', ofHost: source === 'flag' },
    { variables, lists, taken },
  );
}

async function toolsOf(
  connection: ClientConnection,
  book: ToolBook,
): Promise<Pick<Offered, 'tools' | 'problems'>> {
  const { fetchListing } = await import('../../mcp/tools/listing.js');
  const connected = await connection.connect();
  // Agents are not shown a server's own instructions, but the approval covers them: without fetching them
  // here they would later count as changed.
  const listing = connected.ok ? await fetchListing(connection) : connected;
  if (!listing.ok) return { tools: [], problems: [listing.error.message] };
  return book.offer(connection, listing.value, { live: true });
}

/** Checks calls against the tools of the agent or of the original it was forked from. */
function guardOf(books: ReadonlyMap<string, ToolBook>): Guard {
  return {
    name: 'MCP tools of agents',
    // fail-closed: the tool's owner is unknown.
    onFailure: 'deny',
    async decide(view) {
      const { tool, agent } = view.call;
      if (tool.origin?.ofAgent !== true) return NOTHING;
      const book = nearestAbove(books, agent.path);
      if (book === undefined) {
        const reason = `the agent that brought ${tool.name} has ended`;
        return { decision: 'deny', refusal: 'guard-failed', reason };
      }
      const findings = await Promise.all(
        book.extension.guards.map(async (guard) => await guard.decide(view)),
      );
      return (
        findings.find(({ decision }) => decision === 'deny') ??
        findings.find(({ decision }) => decision === 'ask') ??
        NOTHING
      );
    },
  };
}
