import type { AgentDefinition } from '../agents/definition.js';
import { bareName } from '../agents/definition-tools.js';
import { mainAgentOf } from '../agents/definitions.js';
import type { SessionConfig } from '../agents/session-config.js';
import { PortcullisError } from '../errors.js';
import type { PoolOptions } from '../tools/pool.js';
import { createToolMatcher } from '../tools/pool-patterns.js';
import { openKinds } from './agents.js';
import type { Ground } from './ground.js';

/** The session as the agent that it runs as: its words, its model, its tools. What was asked for by a flag stays. */
export async function asMainAgent(config: SessionConfig, ground: Ground): Promise<SessionConfig> {
  const setting = ground.settings.values.get('agent')?.value;
  const name = config.agent ?? (typeof setting === 'string' ? setting : undefined);
  if (name === undefined || name.trim() === '') return config;
  const found = await mainAgentOf(openKinds(config, ground), name);
  // fail-closed: without its limits the session would be another one than was asked for.
  if (!found.ok) throw new PortcullisError('usage', found.error);
  const runsAs = found.value;
  const { model, effort, maxTurns } = runsAs;
  const wanted = model === undefined || model === 'inherit' ? undefined : model;
  return {
    ...config,
    runsAs,
    systemPrompt: config.systemPrompt ?? (await runsAs.prompt()),
    model: config.model ?? wanted,
    effort: config.effort ?? effort,
    maxTurns: config.maxTurns ?? maxTurns,
    permissionMode: config.permissionMode ?? modeOf(runsAs),
  };
}

/** fail-closed: no file takes the gate away. */
function modeOf({ permissionMode }: AgentDefinition): AgentDefinition['permissionMode'] {
  return permissionMode === 'bypassPermissions' ? undefined : permissionMode;
}

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
