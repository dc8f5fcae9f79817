import { BUDGET_UNITS, type BudgetLimits, hasLimit } from '../../budget/units.js';
import { isRecord } from '../../lib/own.js';
import type { AgentRef } from '../../protocol/agent-ref.js';
import type { PermissionMode } from '../../protocol/permissions.js';
import type { AgentDefinition, DefinitionSource } from '../definitions/definition.js';
import { guardMarks } from './inherited-hooks.js';

/**
 * What an agent was started with that binds everybody below it too. Kept with each of those, so
 * that it holds when they outlive it and when they are gone on with.
 */
export interface Hold {
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
}

export function holdOf(
  definition: AgentDefinition,
  { workspace }: Pick<AgentRef, 'workspace'>,
): Hold {
  const { name, source, file, tools, disallowedTools, permissionMode, budget } = definition;
  const guards = guardMarks(definition);
  return {
    name,
    source,
    disallowedTools,
    file,
    tools,
    mode: permissionMode,
    budget: hasLimit(budget) ? budget : undefined,
    workspace,
    guards,
  };
}

/** The modes that were said on the way down, the highest first. */
export function modesOf(way: readonly Hold[]): readonly PermissionMode[] {
  return way.flatMap(({ mode }) => mode ?? []);
}

/**
 * What a transcript says of those above its agent, who is this deep. Undefined: not all of it is
 * there, so that nobody knows what the agent may do.
 */
export function readWay(value: unknown, depth: number): readonly Hold[] | undefined {
  // Nobody but the main agent is above it.
  if (value === undefined && depth === 1) return [];
  if (!Array.isArray(value) || value.length !== depth - 1) return undefined;
  return value.every(isHold) ? value : undefined;
}

const SOURCES: Readonly<Record<DefinitionSource, true>> = {
  managed: true,
  flag: true,
  project: true,
  user: true,
  plugin: true,
  builtin: true,
};
const MODES: Readonly<Record<PermissionMode, true>> = {
  default: true,
  acceptEdits: true,
  plan: true,
  dontAsk: true,
  bypassPermissions: true,
};

export function isHold(value: unknown): value is Hold {
  return (
    isRecord(value) &&
    typeof value.name === 'string' &&
    isOneOf(value.source, SOURCES) &&
    (value.file === undefined || typeof value.file === 'string') &&
    (value.tools === undefined || isTexts(value.tools)) &&
    isTexts(value.disallowedTools) &&
    (value.mode === undefined || isOneOf(value.mode, MODES)) &&
    (value.budget === undefined || isBudget(value.budget)) &&
    (value.workspace === undefined || typeof value.workspace === 'string') &&
    (value.guards === undefined || isTexts(value.guards))
  );
}

function isBudget(value: unknown): boolean {
  return (
    isRecord(value) &&
    Object.entries(value).every(
      ([unit, limit]) =>
        (BUDGET_UNITS as readonly string[]).includes(unit) && typeof limit === 'number',
    )
  );
}

function isOneOf(value: unknown, known: object): boolean {
  return typeof value === 'string' && Object.hasOwn(known, value);
}

export function isTexts(value: unknown): value is readonly string[] {
  return Array.isArray(value) && value.every((one) => typeof one === 'string');
}
