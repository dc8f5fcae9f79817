import { BUDGET_UNITS, type BudgetLimits, hasLimit, strictest } from '../../budget/units.js';
import {
  listOf,
  mapOf,
  number,
  object,
  oneOf,
  optional,
  type Shaped,
  text,
} from '../../lib/shape.js';
import { serverKey } from '../../mcp/config/names.js';
import { lowerMode } from '../../permissions/gate/modes.js';
import type { AgentRef } from '../../protocol/agent-ref.js';
import { PERMISSION_MODES, type PermissionMode } from '../../protocol/permissions.js';
import { createToolMatcher } from '../../tools/pool-patterns.js';
import { type AgentDefinition, DEFINITION_SOURCES } from '../definitions/definition.js';
import { bareName } from '../definitions/tools.js';
import { guardMarks, hasHooks, hookFingerprints } from './inherited-hooks.js';

const limitsShape = object({
  /** The type of the agent. */
  name: text,
  source: oneOf(...DEFINITION_SOURCES),
  file: optional(text),
  tools: optional(listOf(text)),
  disallowedTools: listOf(text),
  mode: optional(oneOf(...PERMISSION_MODES)),
  budget: optional(isBudget),
  /** The directory that it was kept in. */
  workspace: optional(text),
  /** Marks of its hooks that judge calls. */
  guards: optional(listOf(text)),
  // From here on its own, which bind nobody below it.
  maxTurns: optional(number),
  asks: optional(oneOf('deny')),
  /** Marks of all its hooks. */
  hooks: optional(listOf(text)),
  oneShot: optional(oneOf(true)),
  foregroundOnly: optional(oneOf(true)),
});
/**
 * What an agent was held to when it began. Recorded with the agent, and without the fields of its own with each one
 * below it, so that it holds when those outlive it and when they are resumed.
 */
export type AgentLimits = Shaped<typeof limitsShape>;

function isBudget(value: unknown): value is BudgetLimits {
  const units: readonly string[] = BUDGET_UNITS;
  return mapOf(number)(value) && Object.keys(value).every((unit) => units.includes(unit));
}

/** What binds those that an agent of this definition starts. */
export function inheritedLimits(
  definition: AgentDefinition,
  { workspace }: Pick<AgentRef, 'workspace'>,
): AgentLimits {
  const { name, source, file, tools, disallowedTools, permissionMode: mode, budget } = definition;
  return {
    name,
    source,
    disallowedTools,
    file,
    tools,
    mode,
    budget: hasLimit(budget) ? budget : undefined,
    workspace,
    guards: guardMarks(definition),
  };
}

/** Who an agent is, for its mark, and what its definition held it to when it began. */
export function refWithLimits(
  ref: AgentRef,
  definition: AgentDefinition,
): AgentRef & { readonly held: AgentLimits } {
  const { maxTurns, asks, oneShot, foregroundOnly } = definition;
  const held: AgentLimits = {
    ...inheritedLimits({ ...definition, tools: allTools(definition) }, ref),
    maxTurns,
    asks: asks === 'deny' ? asks : undefined,
    hooks: hookFingerprints(definition),
    oneShot: oneShot === true ? true : undefined,
    foregroundOnly: foregroundOnly ? true : undefined,
  };
  return { ...ref, held };
}

/** What an agent was held to when it began; undefined: its transcript does not say, or not readably. */
export function recordedLimits({
  held,
}: AgentRef & { readonly held?: unknown }): AgentLimits | undefined {
  return limitsShape(held) ? held : undefined;
}

/**
 * What a transcript says of those above its agent, who is this deep. Undefined: not all of it is there, so that nobody
 * knows what the agent may do.
 */
export function readInheritedLimits(
  value: unknown,
  depth: number,
): readonly AgentLimits[] | undefined {
  // Nobody but the main agent is above it.
  if (value === undefined && depth === 1) return [];
  return listOf(limitsShape)(value) && value.length === depth - 1 ? value : undefined;
}

/** Why agents of a kind, as it is now or was then, do not go on; undefined: they do. */
export function isFinal(
  definition: AgentDefinition,
  held: AgentLimits | undefined,
): string | undefined {
  if (definition.oneShot === true || held?.oneShot === true) {
    return `agents of the type ${definition.name} end for good`;
  }
  if (!definition.foregroundOnly && held?.foregroundOnly !== true) return undefined;
  return `agents of the type ${definition.name} never run in the background, and one that goes on does. Start a new one with all that it needs to know`;
}

/** Why an agent cannot be held to what held it when it began; undefined: it can. */
export function unenforceable(
  definition: AgentDefinition,
  { hooks }: Pick<AgentLimits, 'hooks'>,
): string | undefined {
  if (hooks === undefined || hasHooks(definition, hooks)) return undefined;
  // fail-closed: what its guards would have refused nobody can tell without them, and no other guard
  // is known to be as strict.
  const place = definition.file === undefined ? '' : ` (${definition.file})`;
  return `hooks that it began with are not in force any more: its definition${place} has changed or is not trusted. Put them back, or start a new agent with all that it needs to know`;
}

/** The definition as it is now, with nothing in it that the agent did not have when it began. */
export function applyRecordedLimits(
  definition: AgentDefinition,
  held: AgentLimits | undefined,
): AgentDefinition {
  if (held === undefined) return definition;
  const { disallowedTools, budget, asks, mcpServers } = definition;
  const turns = [definition.maxTurns, held.maxTurns].filter((one) => one !== undefined);
  const had = createToolMatcher(held.tools ?? ['*']);
  return {
    ...definition,
    permissionMode: stricterMode(definition.permissionMode, held.mode),
    tools: toolsOfBoth(allTools(definition), held.tools),
    maxTurns: turns.length === 0 ? undefined : Math.min(...turns),
    asks: held.asks ?? asks,
    budget: strictest(budget, held.budget ?? {}),
    disallowedTools: [...new Set([...disallowedTools, ...held.disallowedTools])],
    // Servers bring their tools whatever the list says.
    mcpServers: mcpServers.filter(({ name }) => had([serverTools(name)])),
  };
}

/** The tools that a definition names, with those of its servers. Undefined: all that there are. */
function allTools({ tools, mcpServers }: AgentDefinition): Tools {
  return tools && [...new Set([...tools, ...mcpServers.map(({ name }) => serverTools(name))])];
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
  // Said by a definition, a bypass changes nothing.
  const said = (mode: PermissionMode | undefined) =>
    mode === 'bypassPermissions' ? undefined : mode;
  if (said(one) === said(other)) return said(one);
  return lowerMode(said(one) ?? 'default', said(other) ?? 'default');
}
