import type { AgentDefinition, AgentServer } from './definition.js';
import { STRICT_MODES } from './schema.js';

/** The fields that count in a trusted folder only: what runs, what allows, what is kept for later. */
export function fieldsThatNeedTrust(definition: AgentDefinition): readonly string[] {
  const { permissionMode, hooks, memory, mcpServers, omitInstructions } = definition;
  const fields: string[] = [];
  const isStrict = permissionMode === undefined || STRICT_MODES.includes(permissionMode);
  if (!isStrict) fields.push('permissionMode');
  if (hooks !== undefined) fields.push('hooks');
  if (memory !== undefined) fields.push('memory');
  // A name means a server that the session has anyway.
  if (mcpServers.some(isOwnServer)) fields.push('mcpServers');
  // What the user's own instruction files say is not a foreign project's to leave out.
  if (omitInstructions) fields.push('omitClaudeMd');
  return fields;
}

function isOwnServer(server: AgentServer): boolean {
  return 'config' in server;
}

/** What is left of a project's definition where the folder is not trusted: all that holds back. */
export function withoutTrust(definition: AgentDefinition): AgentDefinition {
  const heldBack = fieldsThatNeedTrust(definition);
  if (heldBack.length === 0) return { ...definition, trusted: false };
  const { permissionMode, hooks: _hooks, memory: _memory, ...rest } = definition;
  const keepsMode = permissionMode !== undefined && !heldBack.includes('permissionMode');
  return {
    ...rest,
    ...(keepsMode ? { permissionMode } : {}),
    mcpServers: definition.mcpServers.filter((server) => !isOwnServer(server)),
    omitInstructions: false,
    trusted: false,
    heldBack,
  };
}

/**
 * A plugin's agents run as the session does: nothing in them runs programs or opens a mode. fail-closed:
 * that one may only plan is kept.
 */
export function asPlugin(definition: AgentDefinition): AgentDefinition {
  const { permissionMode, hooks, ...rest } = definition;
  const isPlan = permissionMode === 'plan';
  const heldBack = [
    ...(hooks === undefined ? [] : ['hooks']),
    ...(definition.mcpServers.length === 0 ? [] : ['mcpServers']),
    ...(permissionMode === undefined || isPlan ? [] : ['permissionMode']),
  ];
  return {
    ...rest,
    ...(isPlan ? { permissionMode } : {}),
    mcpServers: [],
    ...(heldBack.length === 0 ? {} : { heldBack }),
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
