import type { ModelLayer } from '../agents/core/model-layer.js';
import type { SessionConfig } from '../agents/core/session-config.js';
import type { Permissions } from '../permissions/gate/open.js';
import type { AgentRef } from '../protocol/agent-ref.js';
import { deferral } from '../tools/deferral.js';
import type { Added, PoolOptions, ToolPool } from '../tools/pool.js';
import type { AnyTool } from '../tools/tool.js';
import type { OpenServersOfSession } from './mcp-servers.js';
import type { SessionEnvironment } from './session-environment.js';

interface Needs {
  readonly model: ModelLayer;
  readonly permissions: Pick<Permissions, 'isBanned'>;
  readonly mcp: OpenServersOfSession | undefined;
  pool(agent?: AgentRef): ToolPool;
  /** What all agents choose from. */
  shared(): ToolPool;
}

/** What servers bring to the pool of a session, and how much of it the model is shown. */
export interface ServerTools {
  readonly tools: readonly AnyTool[];
  /** ToolSearch, where there may be something to search for. */
  readonly search: readonly AnyTool[];
  readonly options: PoolOptions;
  /** Takes in tools that come after the start. */
  late(tools: readonly AnyTool[]): Added;
  /** Whether such a tool is told by its name alone, so that no definition is added. */
  isToldByName(tool: AnyTool): boolean;
}

const SEARCH = ['ToolSearch'];

export async function serverTools(
  config: SessionConfig,
  environment: SessionEnvironment,
  { model, permissions, mcp, pool, shared }: Needs,
): Promise<ServerTools> {
  const isBanned = (names: readonly string[]): boolean => permissions.isBanned(names);
  const none = { tools: [], search: [], options: { isBanned } };
  if (mcp === undefined)
    return { ...none, late: (tools) => shared().add(tools), isToldByName: () => false };
  // fail-closed: the model must not call what answers for the person.
  const isHidden = (names: readonly string[]): boolean =>
    isBanned(names) || (config.promptTool !== undefined && names.includes(config.promptTool));
  const tools = await mcp.started;
  const isLeftOut = config.tools !== undefined && !config.tools.includes('ToolSearch');
  const { search, defer, problem } = deferral({
    env: environment.env,
    definitionsTokens: mcp.definitionsTokens(),
    windowTokens: model.choices.limits().contextWindow,
    // Servers that a host adds later show their tools whole.
    searchDenied: isLeftOut || isBanned(SEARCH) || mcp.isEmpty(),
  });
  if (problem !== undefined) config.emit({ type: 'notice', level: 'warning', text: problem });
  const mayWait = ({ origin }: AnyTool): boolean => origin?.alwaysLoad === false;
  return {
    tools,
    search: search ? [await searchTool(mcp, pool)] : [],
    options: { isBanned: isHidden, defer: defer ? mayWait : undefined },
    // What the model has been sent stays as it is: later tools are told by name where they can be.
    late: (later) => shared().add(later, search ? { defer: mayWait } : {}),
    isToldByName: (tool) => search && mayWait(tool),
  };
}

async function searchTool(mcp: OpenServersOfSession, pool: Needs['pool']): Promise<AnyTool> {
  const { toolSearchTool } = await import('../tools/builtin/tool-search.js');
  return toolSearchTool({ poolOf: pool, settle: mcp.settle, notes: mcp.notes });
}
