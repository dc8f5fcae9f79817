import type { SessionConfig } from '../../config/session-config.js';
import type { SessionEnvironment } from '../../config/session-environment.js';
import type { OpenServersOfSession } from '../../mcp/session/session-servers.js';
import type { Permissions } from '../../permissions/gate/open.js';
import { type AgentRef, MAIN_AGENT } from '../../protocol/agent-ref.js';
import { deferral } from '../../tools/deferral.js';
import type { Added, PoolOptions, ToolPool } from '../../tools/pool.js';
import { createToolMatcher } from '../../tools/pool-patterns.js';
import type { AnyTool } from '../../tools/tool.js';
import type { AgentDefinition } from '../definitions/definition.js';
import { bareName } from '../definitions/tools.js';
import type { ModelLayer } from './model-layer.js';

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
  const { toolSearchTool } = await import('../../tools/builtin/tool-search.js');
  return toolSearchTool({ poolOf: pool, settle: mcp.settle, notes: mcp.notes });
}

/** What the definition that a session runs as bans: for it and for all agents below it, also later. */
export function poolOptionsFor(
  options: PoolOptions,
  runsAs: AgentDefinition | undefined,
): PoolOptions {
  if (runsAs === undefined || runsAs.disallowedTools.length === 0) return options;
  const entries = runsAs.disallowedTools.filter((entry) => bareName(entry) === entry);
  const banned = createToolMatcher(entries);
  return { ...options, isBanned: (names) => options.isBanned?.(names) === true || banned(names) };
}

/**
 * The tools of the main agent. What is kept from it alone, by its own list or by a rule that names it,
 * is still there for the agents that it starts.
 */
export function mainPool(
  shared: ToolPool,
  permissions: Pick<Permissions, 'isBanned' | 'rules'>,
  runsAs: AgentDefinition | undefined,
): ToolPool {
  const isHidden = (names: readonly string[]): boolean => permissions.isBanned(names, MAIN_AGENT);
  // Mostly no rule takes a tool away altogether, and servers have thousands of tools.
  const mayHide = permissions.rules(MAIN_AGENT).deny.some((rule) => rule.spec.kind === 'any');
  const hidesSome = mayHide && shared.names.some((name) => isHidden([name]));
  const tools = runsAs?.tools;
  if (!hidesSome && tools === undefined) return shared;
  const allow =
    tools === undefined
      ? {}
      : { allow: [...tools.map(bareName), 'StructuredOutput', 'ToolSearch'] };
  return shared.view({ ...allow, isHidden });
}

/** For the model that asks for it all the same; undefined: nobody has it. */
export function keptFromMain(shared: ToolPool, name: string): string | undefined {
  const tool = shared.resolve(name);
  if (tool === undefined) return undefined;
  return `${tool.name} is kept from main. Agents that it starts with the Agent tool may have it: give the work to one of them. Do not try to do it by other means.`;
}
