import type { AgentDefinition } from '../agents/definitions/definition.js';
import { bareName } from '../agents/definitions/tools.js';
import type { Permissions } from '../permissions/gate/open.js';
import { MAIN_AGENT } from '../protocol/agent-ref.js';
import type { PoolOptions, ToolPool } from '../tools/pool.js';
import { createToolMatcher } from '../tools/pool-patterns.js';

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
