import { isInside } from '../../platform/fs/paths.js';
import type { AgentRef } from '../../protocol/agent-ref.js';
import type { AgentDefinition } from '../definitions/definition.js';
import { type AgentLimits, recordedLimits } from '../limits/limits.js';
import { FORK_TYPE } from './fork.js';
import type { EarlierTalk, SpawnRequest } from './run.js';

/** What was said in an agent that has ended, and what it was. */
export interface EarlierAgent {
  /** As its mark says it; see `markedRef`. */
  readonly ref: AgentRef & { readonly held?: unknown };
  readonly description: string;
  readonly model: string;
  readonly talk: EarlierTalk;
  /** What those above it were held to; undefined: nobody knows any more. */
  readonly above: readonly AgentLimits[] | undefined;
  /** It ended for good. */
  readonly once: boolean;
}

/** Why an ended agent is not this one's to go on with, or nobody's. */
export function notResumable(
  { ref, above, once }: Pick<EarlierAgent, 'ref' | 'above' | 'once'>,
  from: Pick<AgentRef, 'path' | 'depth'>,
): string | undefined {
  // fail-closed: it would work under other restrictions and another budget than whoever has it do so.
  if (from.depth > 0 && !ref.path.startsWith(`${from.path}/`)) {
    return `${ref.id} has ended, and only the main agent or one that it works for can go on with it`;
  }
  // fail-closed: what a skill held it to was put up for that one run.
  if (once) return `${ref.id} worked for a skill and has ended for good`;
  // fail-closed: without knowing what those above it were held to, nobody could say what it may do.
  if (above === undefined) {
    return `what bound ${ref.id} from above is not known any more. Start a new agent with all that it needs to know`;
  }
  // fail-closed: limits of its own that nobody can read are not left out.
  if (ref.held !== undefined && recordedLimits(ref) === undefined) {
    return `what bound ${ref.id} cannot be read any more. Start a new agent with all that it needs to know`;
  }
  return undefined;
}

/** The wish that an agent goes on, as it was when it began. */
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

/** Whether its place was made for it, and is made again; else it was there before, as somebody else's. */
function isOwnTree(
  { id, workspace = '', isolation }: AgentRef,
  parent: Pick<AgentLimits, 'workspace'> | undefined,
): boolean {
  if (isolation === undefined) return false;
  if (workspace.endsWith(`agent-${id}`)) return true;
  return parent?.workspace === undefined || !isInside(workspace, parent.workspace);
}
