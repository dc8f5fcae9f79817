import type { AgentDefinition } from '../agents/definition.js';
import { bareName } from '../agents/definition-tools.js';
import type { PoolOptions } from '../tools/pool.js';
import { createToolMatcher } from '../tools/pool-patterns.js';

/** What the agent's own list leaves of the tools, those that come later included. */
export function poolOptionsFor(
  options: PoolOptions,
  runsAs: AgentDefinition | undefined,
): PoolOptions {
  if (runsAs === undefined) return options;
  const { tools, disallowedTools } = runsAs;
  const allowed =
    tools === undefined
      ? undefined
      : createToolMatcher([...tools.map(bareName), 'StructuredOutput', 'ToolSearch']);
  const banned = createToolMatcher(disallowedTools.filter((entry) => bareName(entry) === entry));
  return {
    ...options,
    isBanned: (names) =>
      options.isBanned?.(names) === true || banned(names) || allowed?.(names) === false,
  };
}
