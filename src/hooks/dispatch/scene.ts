import type { AgentRef } from '../../protocol/agent-ref.js';
import type { PermissionMode } from '../../protocol/permissions.js';
import type { Occasion } from '../registry/hook.js';

/** Who something is about, where it happens, and until when anybody waits. */
export interface Scene {
  readonly agent: AgentRef;
  readonly cwd: string;
  /** Only for events that carry it. */
  readonly mode?: PermissionMode | undefined;
  readonly signal: AbortSignal;
}

/** An occasion that is about no tool call. */
export function occasionOf(
  { agent, cwd, mode, signal }: Scene,
  matched: readonly string[],
  fields: Occasion['fields'],
): Occasion {
  return { agent, cwd, matched, fields, signal, mode };
}

/** For events without a matcher: every hook of theirs is meant. */
export const EVERY_HOOK: readonly string[] = Object.freeze([]) as readonly [];

/** What is absent stays absent: scripts tell an absent field from an empty one. */
export function withoutAbsent(fields: Occasion['fields']): Occasion['fields'] {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined));
}
