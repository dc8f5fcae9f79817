import type { AgentRef } from '../../protocol/agent-ref.js';
import type { PermissionMode } from '../../protocol/permissions.js';
import {
  type HookDispatch,
  type HookEventName,
  type HookRound,
  NO_ROUND,
  type Occasion,
} from '../registry/hook.js';
import type { BackgroundRounds } from './background-rounds.js';

/** Who something is about, where it happens, and until when anybody waits. */
export interface Scene {
  readonly agent: AgentRef;
  readonly cwd: string;
  /** Only for events that carry it. */
  readonly mode?: PermissionMode | undefined;
  readonly signal: AbortSignal;
}

/** What the hooks of an event are asked that is about no tool call. */
export interface EventQuestion {
  readonly scene: Scene;
  /** The event's own input; fields without a value are left out. */
  readonly fields: Occasion['fields'];
  /** What matchers are compared with. Absent: every hook of the event is asked. */
  readonly matched?: readonly string[];
  readonly toolUseId?: string;
}

/** Asks the hooks of an event; without any the round is empty. */
export async function ask(
  dispatch: HookDispatch,
  event: HookEventName,
  { scene, fields, matched = EVERY_HOOK, toolUseId }: EventQuestion,
): Promise<HookRound> {
  const { agent, cwd, mode, signal } = scene;
  if (!dispatch.has(event, { agent, matched })) return NO_ROUND;
  const own = withoutAbsent(fields);
  return dispatch.fire(event, { agent, cwd, matched, fields: own, signal, mode, toolUseId });
}

/** Asks hooks that nothing waits for, until they answer or `background` is closed. */
export function askInBackground(
  dispatch: HookDispatch,
  background: BackgroundRounds,
  { event, ...question }: EventQuestion & { readonly event: HookEventName },
): void {
  const { scene, matched = EVERY_HOOK } = question;
  if (!dispatch.has(event, { agent: scene.agent, matched })) return;
  background.run(async (closing) => {
    const signal = AbortSignal.any([scene.signal, closing]);
    await ask(dispatch, event, { ...question, scene: { ...scene, signal } });
  });
}

/** For events without a matcher: every hook of theirs is meant. */
export const EVERY_HOOK: readonly string[] = Object.freeze([]) as readonly [];

/** What is absent stays absent: scripts tell an absent field from an empty one. */
function withoutAbsent(fields: Occasion['fields']): Occasion['fields'] {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined));
}
