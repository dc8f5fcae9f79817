import { isInside } from '../../platform/fs/paths.js';
import type { AgentRef } from '../../protocol/agent-ref.js';
import type { AgentDefinition } from '../definitions/definition.js';
import { type AgentLimits, recordedLimits } from '../limits/limits.js';
import { FORK_TYPE } from './fork.js';
import type { EarlierTalk, SpawnRequest } from './run.js';

/** An ended agent and its conversation. */
export interface EarlierAgent {
  /** Its reference from its transcript, with its limits. */
  readonly ref: AgentRef & { readonly held?: unknown };
  readonly description: string;
  readonly model: string;
  readonly talk: EarlierTalk;
  /** The limits of its ancestors; undefined when they are not known any more. */
  readonly above: readonly AgentLimits[] | undefined;
  /** It cannot be resumed. */
  readonly once: boolean;
}

/** Why this agent may not resume an ended one, or why no agent may. */
export function notResumable(
  { ref, above, once }: Pick<EarlierAgent, 'ref' | 'above' | 'once'>,
  from: Pick<AgentRef, 'path' | 'depth'>,
): string | undefined {
  // fail-closed: the agent would work under other restrictions and another budget than those of its ancestors.
  if (from.depth > 0 && !ref.path.startsWith(`${from.path}/`)) {
    return `${ref.id} has ended, and only the main agent or one that it works for can go on with it`;
  }
  // fail-closed: the skill's restrictions applied to that run only.
  if (once) return `${ref.id} worked for a skill and has ended for good`;
  // fail-closed: without its ancestors' limits the agent's permissions are unknown.
  if (above === undefined) {
    return `what bound ${ref.id} from above is not known any more. Start a new agent with all that it needs to know`;
  }
  // fail-closed: unreadable limits are not ignored.
  if (ref.held !== undefined && recordedLimits(ref) === undefined) {
    return `what bound ${ref.id} cannot be read any more. Start a new agent with all that it needs to know`;
  }
  return undefined;
}

/** The request to start the agent, repeated for resuming it. */
export function requestAgain(
  { ref, description, model, above = [] }: EarlierAgent,
  now: {
    readonly definition: AgentDefinition;
    readonly prompt: string;
    readonly from: AgentRef;
  },
): SpawnRequest {
  const { definition, prompt, from } = now;
  return {
    definition,
    ...(definition.name === FORK_TYPE ? { fork: true as const } : {}),
    description,
    prompt,
    parent: from,
    toolUseId: ref.spawnedBy ?? '',
    name: ref.name,
    model,
    background: true,
    ...(ref.workspace !== undefined && !isOwnTree(ref, above.at(-1))
      ? { reopen: ref.workspace }
      : {}),
    signal: new AbortController().signal,
  };
}

/** Whether the agent's workspace was created for it, instead of shared with another. */
function isOwnTree(
  { id, workspace = '', isolation }: AgentRef,
  parent: Pick<AgentLimits, 'workspace'> | undefined,
): boolean {
  if (isolation === undefined) return false;
  if (workspace.endsWith(`agent-${id}`)) return true;
  return parent?.workspace === undefined || !isInside(workspace, parent.workspace);
}
