import type { AgentRef } from '../../protocol/agent-ref.js';
import type { PermissionMode } from '../../protocol/permissions.js';
import type { ToolKind } from '../../tools/tool.js';

/**
 * What a mode says about a kind of tool, once no guard objects. `allow`: runs. `inside`: runs where
 * everything it touches lies in the working directories. `open`: the mode says nothing. `hold`: a
 * person must agree, whatever the rules allow.
 */
type Stance = 'allow' | 'inside' | 'open' | 'hold';

const ASKING: Readonly<Record<ToolKind, Stance>> = {
  read: 'inside',
  edit: 'open',
  execute: 'open',
  network: 'open',
  control: 'allow',
};

const EVERYTHING: Readonly<Record<ToolKind, Stance>> = {
  read: 'allow',
  edit: 'allow',
  execute: 'allow',
  network: 'allow',
  control: 'allow',
};

export const STANCES: Readonly<Record<PermissionMode, Readonly<Record<ToolKind, Stance>>>> = {
  default: ASKING,
  // Simple file commands of a shell are edits too.
  acceptEdits: { ...ASKING, edit: 'inside', execute: 'inside' },
  plan: { ...ASKING, edit: 'hold' },
  // As default; what would be asked is refused.
  dontAsk: ASKING,
  bypassPermissions: EVERYTHING,
};

/** The modes of agents: the session's, and what definitions say about their own. */
interface AgentModes {
  of(agent?: AgentRef): PermissionMode;
  /**
   * An agent begins. `said`: by the definitions on the way down to it, its own last; agents above it
   * may have ended. `own`: a mode that it has in place of the session's. Returns what ends it.
   */
  admit(agent: AgentRef, said: readonly PermissionMode[], own?: OwnMode): () => void;
}

/** The mode of an agent that goes down with the session's, and not up. */
export type OwnMode = () => PermissionMode;

export function createAgentModes(session: () => PermissionMode): AgentModes {
  /** What was said on the way down to an agent. It holds for as long as the agent lives. */
  const said = new Map<string, readonly PermissionMode[]>();
  const saidFor = (path: string): readonly PermissionMode[] => nearestAbove(said, path) ?? [];
  const owned = new Map<string, OwnMode>();
  const baseFor = (path: string): PermissionMode => {
    const own = owned.size === 0 ? undefined : nearestAbove(owned, path)?.();
    // fail-closed: no agent has a wider mode than its session.
    return own === undefined ? session() : lowerMode(own, session());
  };
  return {
    of: (agent) =>
      agent === undefined || agent.depth === 0 || said.size + owned.size === 0
        ? session()
        : saidFor(agent.path).reduce(childMode, baseFor(agent.path)),
    admit(agent, all, own) {
      if (all.length > 0) said.set(agent.path, all);
      if (own !== undefined) owned.set(agent.path, own);
      return () => {
        if (said.get(agent.path) === all) said.delete(agent.path);
        if (owned.get(agent.path) === own) owned.delete(agent.path);
      };
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

/** The mode of an agent: in the default mode its definition's, elsewhere the stricter of its own and its parent's. */
export function childMode(parent: PermissionMode, said: PermissionMode): PermissionMode {
  // fail-closed: no definition takes the gate away.
  if (said === 'bypassPermissions') return parent;
  if (parent === 'default') return said;
  return lowerMode(said, parent);
}

/** The one of two modes that lets less through. */
export function lowerMode(one: PermissionMode, other: PermissionMode): PermissionMode {
  return ORDER.indexOf(one) > ORDER.indexOf(other) ? one : other;
}

/** What is known of an agent, else of the nearest one above it. */
export function nearestAbove<T>(known: ReadonlyMap<string, T>, path: string): T | undefined {
  for (let at = path; ; at = at.slice(0, at.lastIndexOf('/'))) {
    const found = known.get(at);
    if (found !== undefined || !at.includes('/')) return found;
  }
}
