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
  name: text,
  source: oneOf(...DEFINITION_SOURCES),
  file: optional(text),
  tools: optional(listOf(text)),
  disallowedTools: listOf(text),
  mode: optional(oneOf(...PERMISSION_MODES)),
  budget: optional(isBudget),
  /** The directory that it was confined to. */
  workspace: optional(text),
  /** Fingerprints of its hooks that judge calls. */
  guards: optional(listOf(text)),
  // The following fields apply to the agent alone, not to its descendants.
  maxTurns: optional(number),
  asks: optional(oneOf('deny')),
  hooks: optional(listOf(text)),
  oneShot: optional(oneOf(true)),
  foregroundOnly: optional(oneOf(true)),
});
/**
 * The limits of an agent at its start. They are recorded with the agent, and without its own fields with
 * each descendant, so that they hold when those outlive it or are resumed.
 */
export type AgentLimits = Shaped<typeof limitsShape>;

function isBudget(value: unknown): value is BudgetLimits {
  const units: readonly string[] = BUDGET_UNITS;
  return mapOf(number)(value) && Object.keys(value).every((unit) => units.includes(unit));
}

/** The limits that descendants inherit from an agent of this definition. */
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

/** The agent's reference with the limits of its definition, for the first entry of its transcript. */
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

/** The recorded limits of an agent; undefined when its transcript has none that are readable. */
export function recordedLimits({
  held,
}: AgentRef & { readonly held?: unknown }): AgentLimits | undefined {
  return limitsShape(held) ? held : undefined;
}

/**
 * The recorded limits of an agent's ancestors, given its depth; undefined when they are incomplete, so that
 * the agent's limits are unknown.
 */
export function readInheritedLimits(
  value: unknown,
  depth: number,
): readonly AgentLimits[] | undefined {
  // At depth 1 the main agent is the only ancestor.
  if (value === undefined && depth === 1) return [];
  return listOf(limitsShape)(value) && value.length === depth - 1 ? value : undefined;
}

/** Why agents of this type cannot be resumed, by their current or recorded definition; undefined when they can. */
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

/** Why an agent's recorded hooks cannot be enforced; undefined when they can. */
export function unenforceable(
  definition: AgentDefinition,
  { hooks }: Pick<AgentLimits, 'hooks'>,
): string | undefined {
  if (hooks === undefined || hasHooks(definition, hooks)) return undefined;
  // fail-closed: without those hooks it is unknown what they would have refused, and no other hook is known
  // to be as strict.
  const place = definition.file === undefined ? '' : ` (${definition.file})`;
  return `hooks that it began with are not in force any more: its definition${place} has changed or is not trusted. Put them back, or start a new agent with all that it needs to know`;
}

/** The current definition, restricted to what the agent had at its start. */
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
    // Servers add their tools whatever the list says.
    mcpServers: mcpServers.filter(({ name }) => had([serverTools(name)])),
  };
}

/** The tools that a definition names, with those of its servers; undefined means all. */
function allTools({ tools, mcpServers }: AgentDefinition): Tools {
  return tools && [...new Set([...tools, ...mcpServers.map(({ name }) => serverTools(name))])];
}

const serverTools = (name: string): string => `mcp__${serverKey(name)}`;

type Tools = AgentDefinition['tools'];

/**
 * The intersection of two lists; of scoped entries (`Bash(git *)`), those that both contain or that one
 * covers by the whole tool.
 */
function toolsOfBoth(one: Tools, other: Tools): Tools {
  if (one === undefined || other === undefined) return one ?? other;
  const inside = (entries: readonly string[], list: readonly string[]): readonly string[] => {
    const isWhole = createToolMatcher(list.filter((entry) => bareName(entry) === entry));
    return entries.filter((entry) => list.includes(entry) || isWhole([bareName(entry)]));
  };
  return [...new Set([...inside(one, other), ...inside(other, one)])];
}

/**
 * The stricter of two modes; undefined stands for the session's mode, which may be more or less strict than
 * `acceptEdits`.
 */
function stricterMode(
  one: PermissionMode | undefined,
  other: PermissionMode | undefined,
): PermissionMode | undefined {
  // A definition cannot bypass permissions, so that mode counts as none.
  const said = (mode: PermissionMode | undefined) =>
    mode === 'bypassPermissions' ? undefined : mode;
  if (said(one) === said(other)) return said(one);
  return lowerMode(said(one) ?? 'default', said(other) ?? 'default');
}
