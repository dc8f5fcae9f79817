import type { AgentDefinition, AgentServer } from './definition.js';
import { STRICT_MODES } from './schema.js';

/** The fields that count in a trusted folder only: what runs, what allows, what is kept for later. */
export function fieldsThatNeedTrust(definition: AgentDefinition): readonly string[] {
  const { permissionMode, hooks, memory, mcpServers, omitInstructions } = definition;
  return namesOf({
    permissionMode: permissionMode !== undefined && !STRICT_MODES.includes(permissionMode),
    hooks: hooks !== undefined,
    memory: memory !== undefined,
    // A name means a server that the session has anyway.
    mcpServers: mcpServers.some(isOwnServer),
    // What the user's own instruction files say is not a foreign project's to leave out.
    omitClaudeMd: omitInstructions,
  });
}

function namesOf(fields: Readonly<Record<string, boolean>>): readonly string[] {
  return Object.keys(fields).filter((name) => fields[name] === true);
}

function isOwnServer(server: AgentServer): boolean {
  return 'config' in server;
}

/** What is left of a project's definition where the folder is not trusted: all that holds back. */
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
 * A plugin's agents run as the session does: nothing in them runs programs or opens a mode. fail-closed:
 * that one may only plan is kept.
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
 * In the place of a built-in that may only look, a file of a folder that is not trusted may not do
 * more: rules that people gave the type were meant for that one.
 */
export function withBansOf(
  definition: AgentDefinition,
  replaced: AgentDefinition | undefined,
): AgentDefinition {
  if (replaced === undefined || replaced.disallowedTools.length === 0) return definition;
  const bans = new Set([...definition.disallowedTools, ...replaced.disallowedTools]);
  return { ...definition, disallowedTools: [...bans] };
}
