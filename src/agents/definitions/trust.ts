import type { AgentDefinition, AgentServer } from './definition.js';
import { STRICT_MODES } from './schema.js';

/** The fields that take effect only in a trusted folder: those that execute, allow or persist. */
export function fieldsThatNeedTrust(definition: AgentDefinition): readonly string[] {
  const { permissionMode, hooks, memory, mcpServers, omitInstructions } = definition;
  return namesOf({
    permissionMode: permissionMode !== undefined && !STRICT_MODES.includes(permissionMode),
    hooks: hooks !== undefined,
    memory: memory !== undefined,
    // A bare name refers to a server that the session has anyway.
    mcpServers: mcpServers.some(isOwnServer),
    // An untrusted project must not leave out the user's own instruction files.
    omitClaudeMd: omitInstructions,
  });
}

function namesOf(fields: Readonly<Record<string, boolean>>): readonly string[] {
  return Object.keys(fields).filter((name) => fields[name] === true);
}

function isOwnServer(server: AgentServer): boolean {
  return 'config' in server;
}

/** Reduces a project's definition in an untrusted folder to its restrictions. */
export function withoutTrust(definition: AgentDefinition): AgentDefinition {
  const heldBack = fieldsThatNeedTrust(definition);
  const isOpen = heldBack.includes('permissionMode');
  return {
    ...definition,
    permissionMode: isOpen ? undefined : definition.permissionMode,
    hooks: undefined,
    memory: undefined,
    mcpServers: definition.mcpServers.filter((server) => !isOwnServer(server)),
    omitInstructions: false,
    trusted: false,
    heldBack: heldBack.length === 0 ? undefined : heldBack,
  };
}

/**
 * Reduces a plugin's agent to what neither executes programs nor permits more. fail-closed: the mode plan
 * is kept.
 */
export function asPlugin(definition: AgentDefinition): AgentDefinition {
  const { permissionMode, hooks, mcpServers } = definition;
  const isPlan = permissionMode === 'plan';
  const heldBack = namesOf({
    hooks: hooks !== undefined,
    mcpServers: mcpServers.length > 0,
    permissionMode: permissionMode !== undefined && !isPlan,
  });
  return {
    ...definition,
    permissionMode: isPlan ? permissionMode : undefined,
    hooks: undefined,
    mcpServers: [],
    heldBack: heldBack.length === 0 ? undefined : heldBack,
  };
}

/**
 * In an untrusted folder a file that replaces a read-only built-in agent keeps its bans, because people's
 * rules for the type were meant for that agent.
 */
export function keepBans(
  definition: AgentDefinition,
  replaced: AgentDefinition | undefined,
): AgentDefinition {
  if (replaced === undefined || replaced.disallowedTools.length === 0) return definition;
  const bans = new Set([...definition.disallowedTools, ...replaced.disallowedTools]);
  return { ...definition, disallowedTools: [...bans] };
}
