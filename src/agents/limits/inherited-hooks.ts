import { isRecord } from '../../lib/own.js';
import { err, ok, type Result } from '../../lib/result.js';
import { sha256 } from '../../platform/hash.js';
import { judgesCalls } from '../../protocol/hooks/hook-events.js';
import { canonicalJson } from '../../settings/trust/digest.js';
import type { AgentDefinition } from '../definitions/definition.js';
import { FORK_TYPE } from '../runtime/fork.js';

/**
 * The hooks of a definition that judge calls. They also judge the calls of the agent's descendants;
 * otherwise delegating would bypass a guard.
 */
export type GuardHooks = Pick<AgentDefinition, 'name' | 'source' | 'file' | 'line' | 'trusted'> & {
  readonly hooks: Readonly<Record<string, unknown>>;
};

/** The fields that decide whether hooks are in force. */
type HookOwner = Pick<AgentDefinition, 'hooks' | 'trusted' | 'source'>;

/** The hooks that descendants inherit; undefined when there are none. */
export function guardsOf(definition: AgentDefinition): GuardHooks | undefined {
  const judging = Object.entries(inForce(definition)).filter(([event]) => judgesCalls(event));
  if (judging.length === 0) return undefined;
  const { name, source, file, line, trusted } = definition;
  return { name, source, file, line, trusted, hooks: Object.fromEntries(judging) };
}

/** One fingerprint for each hook, from its event, matcher and action; undefined when there are none. */
export function hookFingerprints(definition: HookOwner): readonly string[] | undefined {
  const marks = Object.entries(inForce(definition)).flatMap(([event, groups]) =>
    (Array.isArray(groups) ? groups : [groups]).flatMap((group) => marksOf(event, group)),
  );
  return marks.length === 0 ? undefined : [...new Set(marks)].sort();
}

/** Fingerprints of the inherited hooks. A fork has none of its own, because it inherits its original's. */
export function guardMarks(definition: AgentDefinition): readonly string[] | undefined {
  const guards = definition.name === FORK_TYPE ? undefined : guardsOf(definition);
  return guards === undefined ? undefined : hookFingerprints(guards);
}

/**
 * Restores the inherited hooks of agents that have ended from their current definitions; an error when
 * those have changed. Transcripts contain only fingerprints, so nothing in them is ever executed.
 */
export async function recallGuards(
  above: readonly { readonly name: string; readonly guards?: readonly string[] }[],
  find: (type: string) => Promise<AgentDefinition | undefined>,
): Promise<Result<readonly GuardHooks[], string>> {
  const found: GuardHooks[] = [];
  for (const { name, guards: marks } of above) {
    if (marks === undefined) continue;
    const definition = await find(name);
    const guards = definition === undefined ? undefined : guardsOf(definition);
    // fail-closed: without those hooks it is unknown what they would have refused.
    if (guards === undefined || !hasHooks(guards, marks)) {
      return err(
        `hooks of the agent "${name}" that it worked for judged its calls and are not in force any more. Put them back, or start a new agent with all that it needs to know`,
      );
    }
    found.push(guards);
  }
  return ok(found);
}

/** The inherited hooks that a definition does not contain itself, as a fork or an agent of the same type does. */
export function hooksMissingFrom(
  guards: readonly GuardHooks[],
  definition: AgentDefinition,
): readonly GuardHooks[] {
  const isNew = (one: GuardHooks): boolean =>
    one.file !== definition.file || !hasHooks(definition, hookFingerprints(one) ?? []);
  const kept = new Map(
    guards.filter(isNew).map((one) => [canonicalJson([one.file, hookFingerprints(one)]), one]),
  );
  return [...kept.values()];
}

/** Whether every hook with these fingerprints is in force now; further ones may be. */
export function hasHooks(definition: HookOwner, marks: readonly string[]): boolean {
  const now = new Set(hookFingerprints(definition) ?? []);
  return marks.every((mark) => now.has(mark));
}

/** fail-closed: a project's definition whose trust was not checked may not execute. */
export function mayExecute({ trusted, source }: Omit<HookOwner, 'hooks'>): boolean {
  return trusted ?? source !== 'project';
}

function inForce(definition: HookOwner): Readonly<Record<string, unknown>> {
  return mayExecute(definition) ? (definition.hooks ?? {}) : {};
}

function marksOf(event: string, group: unknown): readonly string[] {
  if (!isRecord(group) || !Array.isArray(group.hooks)) return [markOf([event, group])];
  const { hooks, ...about } = group;
  return hooks.map((handler) => markOf([event, about, handler]));
}

function markOf(parts: readonly unknown[]): string {
  return sha256(canonicalJson(parts)).slice(0, 32);
}
