import { BUDGET_UNITS, type BudgetLimits, type BudgetUnit } from '../../budget/units.js';
import { serverKey } from '../../mcp/config/names.js';
import { lowerMode } from '../../permissions/gate/modes.js';
import type { AgentRef } from '../../protocol/agent-ref.js';
import type { PermissionMode } from '../../protocol/permissions.js';
import { createToolMatcher } from '../../tools/pool-patterns.js';
import type { AgentBudget, AgentDefinition } from '../definitions/definition.js';
import { bareName } from '../definitions/tools.js';
import { hasHooks, hookFingerprints } from './inherited-hooks.js';
import { type Hold, holdOf, isHold, isTexts } from './inherited-limits.js';

/** What an agent itself was held to when it began. */
export interface Held extends Hold {
  readonly maxTurns?: number;
  readonly asks?: 'deny';
  /** Marks of all its hooks. */
  readonly hooks?: readonly string[];
  readonly oneShot?: true;
  readonly foregroundOnly?: true;
}

/** Who an agent is, for its mark, and what its definition held it to when it began. */
export function refWithLimits(
  ref: AgentRef,
  definition: AgentDefinition,
): AgentRef & { readonly held: Held } {
  if (ref.workspace !== undefined) return { ...ref, held: heldBy(definition, ref) };
  const held = heldByKind.get(definition) ?? heldBy(definition, {});
  heldByKind.set(definition, held);
  return { ...ref, held };
}

/** What holds every agent of a kind that has no place of its own. */
const heldByKind = new WeakMap<AgentDefinition, Held>();

function heldBy(definition: AgentDefinition, place: Pick<AgentRef, 'workspace'>): Held {
  const { maxTurns, asks, oneShot, foregroundOnly } = definition;
  const hooks = hookFingerprints(definition);
  return {
    ...holdOf({ ...definition, ...allTools(definition) }, place),
    maxTurns,
    ...(asks === 'deny' ? { asks } : {}),
    hooks,
    ...(oneShot === true ? { oneShot } : {}),
    ...(foregroundOnly ? { foregroundOnly } : {}),
  };
}

/** What an agent was held to when it began; undefined: its transcript does not say, or not readably. */
export function heldOf({ held }: AgentRef & { readonly held?: unknown }): Held | undefined {
  return isHold(held) && isHeld(held) ? held : undefined;
}

function isHeld(value: Hold & Partial<Record<keyof Held, unknown>>): value is Held {
  const { maxTurns, asks, hooks, oneShot, foregroundOnly } = value;
  return (
    (maxTurns === undefined || typeof maxTurns === 'number') &&
    (asks === undefined || asks === 'deny') &&
    (hooks === undefined || isTexts(hooks)) &&
    (oneShot === undefined || oneShot === true) &&
    (foregroundOnly === undefined || foregroundOnly === true)
  );
}

/** Why agents of a kind, as it is now or was then, do not go on; undefined: they do. */
export function isFinal(definition: AgentDefinition, held: Held | undefined): string | undefined {
  if (definition.oneShot === true || held?.oneShot === true) {
    return `agents of the type ${definition.name} end for good`;
  }
  if (!definition.foregroundOnly && held?.foregroundOnly !== true) return undefined;
  return `agents of the type ${definition.name} never run in the background, and one that goes on does. Start a new one with all that it needs to know`;
}

/** Why an agent cannot be held to what held it when it began; undefined: it can. */
export function unenforceable(
  definition: AgentDefinition,
  { hooks }: Pick<Held, 'hooks'>,
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
  held: Held | undefined,
): AgentDefinition {
  if (held === undefined) return definition;
  const maxTurns = least(definition.maxTurns, held.maxTurns);
  const { permissionMode, tools: _tools, ...rest } = definition;
  const mode = stricterMode(permissionMode, held.mode);
  const tools = toolsOfBoth(allTools(definition).tools, held.tools);
  const had = createToolMatcher(held.tools ?? ['*']);
  return {
    ...rest,
    permissionMode: mode,
    tools,
    maxTurns,
    ...(held.asks === 'deny' ? { asks: 'deny' as const } : {}),
    budget: lesserBudget(definition.budget, held.budget ?? {}),
    disallowedTools: [...new Set([...definition.disallowedTools, ...held.disallowedTools])],
    // Servers bring their tools whatever the list says.
    mcpServers: definition.mcpServers.filter(({ name }) => had([serverTools(name)])),
  };
}

function least(one: number | undefined, other: number | undefined): number | undefined {
  if (one === undefined || other === undefined) return one ?? other;
  return Math.min(one, other);
}

function lesserBudget(one: BudgetLimits, other: BudgetLimits): AgentBudget {
  const budget: Partial<Record<BudgetUnit, number>> = {};
  for (const unit of BUDGET_UNITS) {
    const limit = least(one[unit], other[unit]);
    if (limit !== undefined) budget[unit] = limit;
  }
  return budget;
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
