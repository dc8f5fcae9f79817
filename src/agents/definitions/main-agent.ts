import type { SessionConfig } from '../../config/session-config.js';
import type { Log, SessionEnvironment } from '../../config/session-environment.js';
import { openHiding } from '../../context/instructions/session-book.js';
import { PortcullisError } from '../../errors.js';
import { openAgentMemories } from '../runtime/memory.js';
import { openAgentTypes } from '../session-agents.js';
import type { AgentDefinition } from './definition.js';

/** Configures the session for its main agent: prompt, model and tools. Flags take precedence. */
export async function asMainAgent(
  config: SessionConfig,
  environment: SessionEnvironment,
  log: Log | undefined,
): Promise<SessionConfig> {
  const setting = environment.settings.values.get('agent')?.value;
  const name =
    config.agent ?? log?.history.agent ?? (typeof setting === 'string' ? setting : undefined);
  if (name === undefined || name.trim() === '') return config;
  const hiding = openHiding(config, environment);
  const found = await openAgentTypes(config, environment, hiding).resolve(name);
  // fail-closed: without its agent's restrictions the session would be another one than the one asked for.
  if (!found.ok) throw new PortcullisError('usage', found.error);
  const unkept = placeProblem(found.value);
  // fail-closed: a session cannot confine itself to a workspace of its own.
  if (unkept !== undefined) throw new PortcullisError('usage', unkept);
  if (found.value.isolation !== undefined) {
    const text = `the session runs as the agent ${name}, but not in a tree of its own: \`isolation\` is for agents that are started in a session`;
    config.emit({ type: 'notice', level: 'warning', text });
  }
  const runsAs = await openAgentMemories(config, environment, () => undefined).equip(found.value);
  const { model, effort, maxTurns } = runsAs;
  const wanted = model === undefined || model === 'inherit' ? undefined : model;
  return {
    ...config,
    runsAs,
    systemPrompt: isGiven(config.systemPrompt) ? config.systemPrompt : await runsAs.prompt(),
    model: config.model ?? wanted,
    effort: config.effort ?? effort,
    maxTurns: config.maxTurns ?? maxTurns,
    permissionMode: config.permissionMode ?? modeOf(runsAs),
  };
}

/** Hosts send an empty prompt for none; it replaces the default prompt, but not the agent's own. */
function isGiven(prompt: SessionConfig['systemPrompt']): boolean {
  if (prompt === undefined) return false;
  return typeof prompt === 'string' ? prompt !== '' : prompt.some((part) => part !== '');
}

/** Why a session cannot run as this agent: a session always works in the directory where it was started. */
function placeProblem({ name, workspace }: AgentDefinition): string | undefined {
  if (workspace.kind === 'inherit') return undefined;
  const place = workspace.kind === 'directory' ? workspace.path : workspace.kind;
  return `the session cannot run as the agent ${name}: its workspace (${place}) is for agents that are started in a session. Start the session in the directory that is meant, with an agent that names none`;
}

/** fail-closed: no file may bypass permissions. */
function modeOf({ permissionMode }: AgentDefinition): AgentDefinition['permissionMode'] {
  return permissionMode === 'bypassPermissions' ? undefined : permissionMode;
}
