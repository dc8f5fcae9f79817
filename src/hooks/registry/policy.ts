import { own } from '../../lib/own.js';
import type { SettingSource } from '../../lib/sourced.js';
import { isSecretName } from '../../platform/environment.js';
import { HOOK_TIMEOUTS, LONGEST_SESSION_END_MS } from '../../protocol/hook-event-facts.js';
import { type HookEventName, hookEventFacts } from '../../protocol/hook-events.js';
import type { HookSwitches } from '../../settings/merge/switches.js';
import { isOfOwner } from '../../settings/types.js';
import { LONGEST_TIMER_MS } from '../dispatch/timeout.js';
import type { HookHandler } from './hook.js';

/** What the failure of a hook means. */
export function failureMeans(
  event: HookEventName,
  said: 'block' | 'continue' | undefined,
  { failure }: Pick<HookSwitches, 'failure'>,
): { readonly onFailure: 'block' | 'continue'; readonly note?: string } {
  const { role, failureNeverBlocks } = hookEventFacts(event);
  if (role === 'observe' || failureNeverBlocks === true) {
    if (said !== 'block') return { onFailure: 'continue' };
    const why = role === 'observe' ? 'its hooks only watch' : 'what it holds up is an end';
    return {
      onFailure: 'continue',
      note: `onFailure "block" has no effect at ${event}: ${why}`,
    };
  }
  // fail-closed: a guard that cannot answer refuses, unless it or a trusted setting says otherwise.
  const blocks = role === 'gate' && failure !== 'open';
  return { onFailure: said ?? (blocks ? 'block' : 'continue') };
}

/** The handler without the variables that its source cannot hand to it, and which they are. */
export function grantedHandler(
  handler: HookHandler,
  source: SettingSource,
  { httpEnvVars: named = [] }: Pick<HookSwitches, 'httpEnvVars'>,
): { readonly handler: HookHandler; readonly note?: string } {
  // What HTTP hooks may send is judged when they send it; here it is what a process inherits.
  if (handler.type !== 'command' || isOfOwner(source)) return { handler };
  const wanted = handler.allowedEnvVars ?? [];
  // fail-closed: a file of a project cannot allow itself what looks like a secret.
  const withheld = wanted.filter((name) => isSecretName(name) && !named.includes(name));
  if (withheld.length === 0) return { handler };
  const allowedEnvVars = Object.freeze(wanted.filter((name) => !withheld.includes(name)));
  const note = `it is not given ${withheld.join(', ')}, which only a person can hand over: name it in \`httpHookAllowedEnvVars\` of your own settings`;
  return { handler: Object.freeze({ ...handler, allowedEnvVars }), note };
}

/** Milliseconds for a callback whose host names no limit. */
const CALLBACK_TIMEOUT_MS = 60_000;
const SESSION_END_VARIABLE = 'CLAUDE_CODE_SESSIONEND_HOOKS_TIMEOUT_MS';

export interface TimedHook {
  readonly type: HookHandler['type'];
  /** What the hook says itself. */
  readonly own?: number | undefined;
  /** Milliseconds by event, of the settings that count for it. */
  readonly timeouts: Readonly<Record<string, number>>;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** A plugin does not make the end of a session longer. */
  readonly ofPlugin?: boolean;
}

/** Milliseconds that a hook may take. */
export function timeoutMs(event: HookEventName, hook: TimedHook): number {
  if (event === 'SessionEnd') return sessionEndMs(hook);
  const limit = hook.own ?? own(hook.timeouts, event) ?? standardMs(event, hook.type);
  return Math.min(limit, LONGEST_TIMER_MS);
}

function sessionEndMs({ own: said, ofPlugin, timeouts, env }: TimedHook): number {
  const variable = Number(env[SESSION_END_VARIABLE]);
  const usual =
    (Number.isFinite(variable) && variable > 0 ? variable : undefined) ??
    own(timeouts, 'SessionEnd') ??
    hookEventFacts('SessionEnd').timeoutMs ??
    LONGEST_SESSION_END_MS;
  const wanted = ofPlugin === true && said !== undefined ? Math.min(said, usual) : (said ?? usual);
  return Math.min(wanted, LONGEST_SESSION_END_MS);
}

function standardMs(event: HookEventName, type: HookHandler['type']): number {
  if (type === 'callback') return CALLBACK_TIMEOUT_MS;
  const asksModel = type === 'prompt' || type === 'agent';
  return (asksModel ? undefined : hookEventFacts(event).timeoutMs) ?? HOOK_TIMEOUTS[type];
}
