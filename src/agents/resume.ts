import { isInside } from '../env/paths.js';
import { serverKey } from '../mcp/config-names.js';
import { lowerMode } from '../permissions/agent-modes.js';
import type { AgentRef } from '../protocol/agent-ref.js';
import type { PermissionMode } from '../protocol/permissions.js';
import { createToolMatcher } from '../tools/pool-patterns.js';
import type { EarlierTalk } from './child-order.js';
import type { AgentDefinition } from './definition.js';
import { bareName } from './definition-tools.js';
import { FORK_TYPE } from './fork.js';
import type { SpawnRequest } from './task.js';
import { type Hold, holdOf, readWay } from './way-down.js';

/** What was said in an agent that has ended, and what it was. */
export interface EarlierAgent {
  /** As its mark says it; see `markedRef`. */
  readonly ref: AgentRef & { readonly held?: unknown };
  readonly description: string;
  readonly model: string;
  readonly talk: EarlierTalk;
  /** What those above it were held to; undefined: nobody knows any more. */
  readonly above: readonly Hold[] | undefined;
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
  if (ref.held !== undefined && heldOf(ref) === undefined) {
    return `what bound ${ref.id} cannot be read any more. Start a new agent with all that it needs to know`;
  }
  return undefined;
}

/** Who an agent is, for its mark, and what its definition held it to when it began. */
export function markedRef(
  ref: AgentRef,
  definition: AgentDefinition,
): AgentRef & { readonly held: Hold } {
  return { ...ref, held: holdOf({ ...definition, ...allTools(definition) }, ref) };
}

/** What an agent was held to when it began; undefined: its transcript does not say. */
export function heldOf({ held }: EarlierAgent['ref']): Hold | undefined {
  return readWay([held], 2)?.[0];
}

/** The definition as it is now, with nothing in it that the agent did not have when it began. */
export function keepingTo(definition: AgentDefinition, held: Hold | undefined): AgentDefinition {
  if (held === undefined) return definition;
  const { permissionMode, tools: _tools, ...rest } = definition;
  const mode = stricterMode(permissionMode, held.mode);
  const tools = toolsOfBoth(allTools(definition).tools, held.tools);
  const had = createToolMatcher(held.tools ?? ['*']);
  return {
    ...rest,
    ...(mode === undefined ? {} : { permissionMode: mode }),
    ...(tools === undefined ? {} : { tools }),
    disallowedTools: [...new Set([...definition.disallowedTools, ...held.disallowedTools])],
    // Servers bring their tools whatever the list says.
    mcpServers: definition.mcpServers.filter(({ name }) => had([serverTools(name)])),
  };
}

/** The tools that a definition names, with those of its servers. Without any: all that there are. */
function allTools({
  tools,
  mcpServers,
}: Pick<AgentDefinition, 'tools' | 'mcpServers'>): Pick<AgentDefinition, 'tools'> {
  if (tools === undefined) return {};
  return { tools: [...new Set([...tools, ...mcpServers.map(({ name }) => serverTools(name))])] };
}

const serverTools = (name: string): string => `mcp__${serverKey(name)}`;

type Tools = AgentDefinition['tools'];

/** What each of two lists leaves. Of parts of a tool, those that both name or one has the whole of. */
function toolsOfBoth(one: Tools, other: Tools): Tools {
  if (one === undefined || other === undefined) return one ?? other;
  const inside = (entries: readonly string[], list: readonly string[]): readonly string[] => {
    const isWhole = createToolMatcher(list.filter((entry) => bareName(entry) === entry));
    return entries.filter((entry) => list.includes(entry) || isWhole([bareName(entry)]));
  };
  return [...new Set([...inside(one, other), ...inside(other, one)])];
}

/** Undefined is the session's mode, which `acceptEdits` may lie below or above. */
function stricterMode(
  one: PermissionMode | undefined,
  other: PermissionMode | undefined,
): PermissionMode | undefined {
  // Said by a definition it changes nothing.
  const [first, second] = [one, other].map((mode) =>
    mode === 'bypassPermissions' ? undefined : mode,
  );
  if (first === second) return first;
  return lowerMode(first ?? 'default', second ?? 'default');
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
    ...(ref.name === undefined ? {} : { name: ref.name }),
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
  parent: Pick<Hold, 'workspace'> | undefined,
): boolean {
  if (isolation === undefined) return false;
  if (workspace.endsWith(`agent-${id}`)) return true;
  return parent?.workspace === undefined || !isInside(workspace, parent.workspace);
}
