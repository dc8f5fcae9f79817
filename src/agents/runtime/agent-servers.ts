import type { SessionConfig } from '../../config/session-config.js';
import type { SessionEnvironment } from '../../config/session-environment.js';
import type { OpenHooks } from '../../hooks/session/session-hooks.js';
import { visible } from '../../lib/visible.js';
import type { ClientConnection } from '../../mcp/connection/deps.js';
import type { BroughtServer, BroughtServers } from '../../mcp/tools/agent-servers.js';
import type { ToolBook } from '../../mcp/tools/registry.js';
import { type Finding, type Guard, NOTHING } from '../../permissions/gate/guard.js';
import type { GateExtension } from '../../permissions/gate/open.js';
import type { CallView } from '../../permissions/gate/view.js';
import { NO_RULES } from '../../permissions/rules/rule.js';
import { join } from '../../platform/fs/paths.js';
import type { ProcessSupervisor } from '../../platform/process/process.js';
import type { AgentRef } from '../../protocol/agent-ref.js';
import { fatalOf, managedSettingsDirectory } from '../../settings/files/load.js';
import { describeProblem } from '../../settings/types.js';
import type { AnyTool } from '../../tools/tool.js';
import type { AgentDefinition } from '../definitions/definition.js';

interface Needs {
  readonly processes: ProcessSupervisor;
  readonly hooks: OpenHooks;
  /** Names of the servers that the session itself has. */
  taken(): readonly string[];
}

/** The servers that an agent brings. */
export interface ChildServers {
  readonly tools: readonly AnyTool[];
  /** For people: what could not be connected. */
  readonly notes: readonly string[];
  close(): Promise<void>;
}

export interface AgentServers {
  /** Must be part of the gate: it answers for the tools of servers that agents bring. */
  readonly extension: GateExtension;
  serversFor(
    ref: AgentRef,
    definition: AgentDefinition,
    signal: AbortSignal,
  ): Promise<ChildServers>;
}

/** Servers that agents bring: connected for one agent, seen by it and its copies alone, closed at its end. */
export function openAgentServers(
  config: SessionConfig,
  environment: SessionEnvironment,
  needs: Needs,
): AgentServers {
  /** What each agent's servers offer, by the agent's path. */
  const books = new Map<string, ToolBook>();
  return {
    extension: {
      guards: [guardOf(books)],
      resolvers: [],
      rules: () => NO_RULES,
      contentOf(toolUseId) {
        for (const book of books.values()) {
          const content = book.extension.contentOf?.(toolUseId);
          if (content !== undefined) return content;
        }
        return undefined;
      },
    },
    async serversFor(ref, definition, signal) {
      const taken = needs.taken();
      const absent = definition.mcpServers
        .filter((server) => !('config' in server) && !taken.includes(server.name))
        .map(({ name }) => `there is no server "${visible(name)}" in this session`);
      const brought = definition.mcpServers.filter((server) => 'config' in server);
      const refusal =
        brought.length === 0 ? undefined : await refusalFor(config, environment, definition);
      if (brought.length === 0 || refusal !== undefined) {
        const notes = refusal === undefined ? absent : [...absent, refusal];
        return { tools: [], notes, close: async () => undefined };
      }
      const opened = await connectAll(config, environment, { needs, definition, brought, signal });
      books.set(ref.path, opened.book);
      return {
        tools: opened.tools,
        notes: [...absent, ...opened.notes],
        async close() {
          books.delete(ref.path);
          await opened.book.close();
          await opened.end();
        },
      };
    },
  };
}

/** Why none of the servers that a definition brings may be used. */
async function refusalFor(
  config: SessionConfig,
  environment: SessionEnvironment,
  { trusted, source }: AgentDefinition,
): Promise<string | undefined> {
  const managed = join(managedSettingsDirectory(environment.host.os), 'managed-mcp.json');
  // fail-closed: whose trust was not looked into is not trusted to execute.
  if (trusted === false || (source === 'project' && trusted !== true)) {
    return 'its servers are not used: the folder of its file is not trusted';
  }
  if (config.strictMcpConfig === true) {
    return 'its servers are not used: only those of --mcp-config are (--strict-mcp-config)';
  }
  if (source === 'managed') return undefined;
  if ((await environment.fs.stat(managed)) !== undefined) {
    return 'its servers are not used: an administrator keeps the list (managed-mcp.json)';
  }
  return undefined;
}

interface Bringing {
  readonly needs: Needs;
  readonly definition: AgentDefinition;
  readonly brought: readonly BroughtServer[];
  readonly signal: AbortSignal;
}

interface Opened {
  readonly book: ToolBook;
  readonly tools: readonly AnyTool[];
  readonly notes: readonly string[];
  end(): Promise<void>;
}

/** Connects each; one that fails holds up none of the others. Loaded with the first agent that brings some. */
async function connectAll(
  config: SessionConfig,
  environment: SessionEnvironment,
  { needs, definition, brought, signal }: Bringing,
): Promise<Opened> {
  const [{ declarations, notes }, { createToolBook }, { openToolApprovals }, more] =
    await Promise.all([
      declared(config, environment, { needs, definition, brought }),
      import('../../mcp/tools/registry.js'),
      import('../../mcp/approval/tool-approvals.js'),
      import('../../mcp/session/server-connections.js'),
    ]);
  const { fs, stateDirectory, env } = environment;
  const { tell } = needs.hooks;
  const approvals = openToolApprovals({ fs, stateDirectory });
  const book = createToolBook({ fs, approvals, env, tell });
  const connections = declarations.map(more.connectionMaker(config, environment, needs));
  const end = async (): Promise<void> => {
    await Promise.all(connections.map((connection) => connection.close()));
  };
  const abort = (): void => void end();
  signal.addEventListener('abort', abort, { once: true });
  const asked = await Promise.all(connections.map((connection) => toolsOf(connection, book)));
  signal.removeEventListener('abort', abort);
  return {
    book,
    tools: asked.flatMap(({ tools }) => tools),
    notes: [...notes, ...asked.flatMap(({ problems }) => problems)],
    end,
  };
}

/** What of them may be connected, by the lists in force and by what each would be given. */
async function declared(
  config: SessionConfig,
  environment: SessionEnvironment,
  { needs, definition, brought }: Omit<Bringing, 'signal'>,
): Promise<BroughtServers> {
  const [{ readBrought }, { readServerLists }] = await Promise.all([
    import('../../mcp/tools/agent-servers.js'),
    import('../../mcp/config/server-lists.js'),
  ]);
  const { source, file, line } = definition;
  const { lists, problems } = readServerLists(environment.settings.values, config.env);
  const [broken] = fatalOf(problems);
  if (broken !== undefined) {
    // fail-closed: what a list means to forbid is not known. A session that declares no server has not looked.
    const why = visible(describeProblem(broken));
    return { declarations: [], notes: [`its servers are not used: ${why}`] };
  }
  const variables = {
    ...environment.env,
    CLAUDE_PROJECT_DIR: await environment.fs.realPath(config.cwd),
  };
  return readBrought(
    brought,
    { file, line, ofProject: source === 'project', ofHost: source === 'flag' },
    { variables, lists, taken: needs.taken() },
  );
}

async function toolsOf(
  connection: ClientConnection,
  book: ToolBook,
): Promise<{ readonly tools: readonly AnyTool[]; readonly problems: readonly string[] }> {
  const { fetchListing } = await import('../../mcp/tools/listing.js');
  const connected = await connection.connect();
  // Agents are not told what the server says about itself. It is held against what was accepted all the
  // same: without it the server would have said nothing, and its words would later be changed ones.
  const listing = connected.ok ? await fetchListing(connection) : connected;
  if (!listing.ok) return { tools: [], problems: [listing.error.message] };
  return book.offer(connection, listing.value, { live: true });
}

/** Asks the book of the agent, or of the one that it is a copy of. */
function guardOf(books: ReadonlyMap<string, ToolBook>): Guard {
  return {
    name: 'MCP tools of agents',
    // fail-closed: whose tool it is could not be told.
    onFailure: 'deny',
    async decide(view) {
      const { tool, agent } = view.call;
      if (tool.origin?.ofAgent !== true) return NOTHING;
      const book = bookFor(books, agent.path);
      if (book === undefined) {
        const reason = `the agent that brought ${tool.name} has ended`;
        return { decision: 'deny', refusal: 'guard-failed', reason };
      }
      return strictest(book.extension.guards, view);
    },
  };
}

function bookFor(books: ReadonlyMap<string, ToolBook>, path: string): ToolBook | undefined {
  for (let at = path; at !== ''; at = at.slice(0, Math.max(0, at.lastIndexOf('/')))) {
    const book = books.get(at);
    if (book !== undefined) return book;
  }
  return undefined;
}

async function strictest(guards: readonly Guard[], view: CallView): Promise<Finding> {
  const findings: Finding[] = [];
  for (const guard of guards) findings.push(await guard.decide(view));
  return (
    findings.find(({ decision }) => decision === 'deny') ??
    findings.find(({ decision }) => decision === 'ask') ??
    NOTHING
  );
}
