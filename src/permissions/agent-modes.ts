import type { AgentRef } from '../protocol/agent-ref.js';
import type { PermissionMode } from '../protocol/permissions.js';

/** The modes of agents: the session's, and what definitions say about their own. */
export interface AgentModes {
  of(agent?: AgentRef): PermissionMode;
  /** An agent begins with a mode of its own. Returns what ends it. */
  admit(agent: AgentRef, mode: PermissionMode | undefined): () => void;
}

export function createAgentModes(session: () => PermissionMode): AgentModes {
  const own = new Map<string, PermissionMode>();
  return {
    of(agent) {
      let mode = session();
      if (agent === undefined || agent.depth === 0 || own.size === 0) return mode;
      // From the top down: whatever holds above holds below.
      for (const path of lineage(agent.path)) {
        const said = own.get(path);
        if (said !== undefined) mode = childMode(mode, said);
      }
      return mode;
    },
    admit(agent, mode) {
      if (mode === undefined) return () => undefined;
      own.set(agent.path, mode);
      return () => void own.delete(agent.path);
    },
  };
}

/** From the one that lets most through to the one that lets least. */
const ORDER: readonly PermissionMode[] = [
  'bypassPermissions',
  'acceptEdits',
  'default',
  'dontAsk',
  'plan',
];

/**
 * What a definition makes of the mode of whoever starts the agent. In the default mode it has its
 * way; elsewhere the stricter of both holds.
 */
export function childMode(parent: PermissionMode, said: PermissionMode): PermissionMode {
  // fail-closed: no definition takes the gate away.
  if (said === 'bypassPermissions') return parent;
  if (parent === 'default') return said;
  return ORDER.indexOf(said) > ORDER.indexOf(parent) ? said : parent;
}

/** `main/a#1/b#2` as `main`, `main/a#1`, `main/a#1/b#2`. */
function lineage(path: string): readonly string[] {
  const names = path.split('/');
  return names.map((_, index) => names.slice(0, index + 1).join('/'));
}
