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
  readonly permissions: Permissions;
  readonly mcp: OpenServersOfSession | undefined;
  pool(agent?: AgentRef): ToolPool;
  /** The pool that all agents choose from. */
  shared(): ToolPool;
}

/** What servers add to a session's pool, and how much of it the model is shown. */
export interface ServerTools {
  readonly tools: readonly AnyTool[];
  /** ToolSearch, where there may be something to search for. */
  readonly search: readonly AnyTool[];
  readonly options: PoolOptions;
  readonly late: {
    /** Adds tools that arrive after the start. */
    add(tools: readonly AnyTool[]): Added;
    /** Whether the tool is announced by name only, so that no definition is added. */
    isToldByName(tool: AnyTool): boolean;
  };
}

export async function serverTools(
  { promptTool, tools: offered, runsAs, emit }: SessionConfig,
  { env }: SessionEnvironment,
  { model, permissions, mcp, pool, shared }: Needs,
): Promise<ServerTools> {
  // Tools that the main agent's definition disallows are banned for it and all its subagents, also later ones.
  const taken = runsAs?.disallowedTools.filter((entry) => bareName(entry) === entry) ?? [];
  const isTaken = createToolMatcher(taken);
  const isBanned = (names: readonly string[]): boolean =>
    permissions.isBanned(names) ||
    isTaken(names) ||
    // fail-closed: the model must not call the tool that answers for the person.
    (promptTool !== undefined && names.includes(promptTool));
  if (mcp === undefined) {
    const late = {
      add: (tools: readonly AnyTool[]) => shared().add(tools),
      isToldByName: () => false,
    };
    return { tools: [], search: [], options: { isBanned }, late };
  }
  const tools = await mcp.started;
  const isLeftOut = offered !== undefined && !offered.includes('ToolSearch');
  const { search, defer, problem } = deferral({
    env,
    definitionsTokens: mcp.definitionsTokens(),
    windowTokens: model.choices.limits().contextWindow,
    // Servers that a host adds later show their full definitions.
    searchDenied: isLeftOut || permissions.isBanned(['ToolSearch']) || mcp.isEmpty(),
  });
  if (problem !== undefined) emit({ type: 'notice', level: 'warning', text: problem });
  const mayWait = ({ origin }: AnyTool): boolean => origin?.alwaysLoad === false;
  const searchTool = async (): Promise<AnyTool> => {
    const { toolSearchTool } = await import('../../tools/builtin/tool-search.js');
    return toolSearchTool({ poolOf: pool, settle: mcp.settle, notes: mcp.notes });
  };
  return {
    tools,
    search: search ? [await searchTool()] : [],
    options: { isBanned, defer: defer ? mayWait : undefined },
    late: {
      // The definitions in requests stay fixed, so later tools are announced by name where possible.
      add: (later) => shared().add(later, search ? { defer: mayWait } : {}),
      isToldByName: (tool) => search && mayWait(tool),
    },
  };
}

/**
 * The main agent's tools. A tool withheld from it alone, by its own list or a rule that names it, stays
 * available to its subagents.
 */
export function mainPool(
  shared: ToolPool,
  permissions: Pick<Permissions, 'isBanned' | 'rules'>,
  runsAs: AgentDefinition | undefined,
): ToolPool {
  const isHidden = (names: readonly string[]): boolean => permissions.isBanned(names, MAIN_AGENT);
  // Checked first, because few rules ban whole tools and servers have thousands.
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

/** The reason for a model that calls a withheld tool; undefined when there is no such tool. */
export function withheldToolText(shared: ToolPool, name: string): string | undefined {
  const tool = shared.resolve(name);
  if (tool === undefined) return undefined;
  return `${tool.name} is kept from main. Agents that it starts with the Agent tool may have it: give the work to one of them. Do not try to do it by other means.`;
}
