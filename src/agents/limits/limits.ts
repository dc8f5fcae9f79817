import { BUDGET_UNITS, type BudgetLimits, hasLimit, strictest } from '../../budget/units.js';
import { isRecord } from '../../lib/own.js';
import { serverKey } from '../../mcp/config/names.js';
import { lowerMode } from '../../permissions/gate/modes.js';
import type { AgentRef } from '../../protocol/agent-ref.js';
import { PERMISSION_MODES, type PermissionMode } from '../../protocol/permissions.js';
import { createToolMatcher } from '../../tools/pool-patterns.js';
import {
  type AgentDefinition,
  DEFINITION_SOURCES,
  type DefinitionSource,
} from '../definitions/definition.js';
import { bareName } from '../definitions/tools.js';
import { guardMarks, hasHooks, hookFingerprints } from './inherited-hooks.js';

/**
 * What an agent was held to when it began. Recorded with the agent, and without the fields of its own with each one
 * below it, so that it holds when those outlive it and when they are resumed.
 */
export interface AgentLimits {
  /** The type of the agent. */
  readonly name: string;
  readonly source: DefinitionSource;
  readonly file?: string;
  readonly tools?: readonly string[];
  readonly disallowedTools: readonly string[];
  readonly mode?: PermissionMode;
  readonly budget?: BudgetLimits;
  /** The directory that it was kept in. */
  readonly workspace?: string;
  /** Marks of its hooks that judge calls. */
  readonly guards?: readonly string[];
  // From here on its own, which bind nobody below it.
  readonly maxTurns?: number;
  readonly asks?: 'deny';
  /** Marks of all its hooks. */
  readonly hooks?: readonly string[];
  readonly oneShot?: true;
  readonly foregroundOnly?: true;
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
    ...inheritedLimits({ ...definition, ...allTools(definition) }, ref),
    maxTurns,
    ...(asks === 'deny' ? { asks } : {}),
    hooks: hookFingerprints(definition),
    ...(oneShot === true ? { oneShot } : {}),
    ...(foregroundOnly ? { foregroundOnly } : {}),
  };
  return { ...ref, held };
}

/** What an agent was held to when it began; undefined: its transcript does not say, or not readably. */
export function recordedLimits({
  held,
}: AgentRef & { readonly held?: unknown }): AgentLimits | undefined {
  return isLimits(held) ? held : undefined;
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
  if (!Array.isArray(value) || value.length !== depth - 1) return undefined;
  return value.every(isLimits) ? value : undefined;
}

type Fits = (value: unknown) => boolean;

const isText: Fits = (value) => typeof value === 'string';
const isNumber: Fits = (value) => typeof value === 'number';
const areTexts: Fits = (value) => Array.isArray(value) && value.every(isText);
const oneOf =
  (...known: readonly unknown[]): Fits =>
  (value) =>
    known.includes(value);
const optional =
  (fits: Fits): Fits =>
  (value) =>
    value === undefined || fits(value);

const FIELDS: Readonly<Record<keyof AgentLimits, Fits>> = {
  name: isText,
  source: oneOf(...DEFINITION_SOURCES),
  file: optional(isText),
  tools: optional(areTexts),
  disallowedTools: areTexts,
  mode: optional(oneOf(...PERMISSION_MODES)),
  budget: optional(
    (value) =>
      isRecord(value) &&
      Object.entries(value).every(([unit, most]) => oneOf(...BUDGET_UNITS)(unit) && isNumber(most)),
  ),
  workspace: optional(isText),
  guards: optional(areTexts),
  maxTurns: optional(isNumber),
  asks: optional(oneOf('deny')),
  hooks: optional(areTexts),
  oneShot: optional(oneOf(true)),
  foregroundOnly: optional(oneOf(true)),
};

function isLimits(value: unknown): value is AgentLimits {
  return isRecord(value) && Object.entries(FIELDS).every(([name, fits]) => fits(value[name]));
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
    budget: strictest(definition.budget, held.budget ?? {}),
    disallowedTools: [...new Set([...definition.disallowedTools, ...held.disallowedTools])],
    // Servers bring their tools whatever the list says.
    mcpServers: definition.mcpServers.filter(({ name }) => had([serverTools(name)])),
  };
}

function least(one: number | undefined, other: number | undefined): number | undefined {
  if (one === undefined || other === undefined) return one ?? other;
  return Math.min(one, other);
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
