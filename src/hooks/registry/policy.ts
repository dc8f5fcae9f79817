import { own } from '../../lib/own.js';
import type { SettingSource } from '../../lib/sourced.js';
import { isSecretName } from '../../platform/environment.js';
import {
  HOOK_TIMEOUTS,
  type HookEventName,
  type HookRole,
  hookEventFacts,
  LONGEST_SESSION_END_MS,
} from '../../protocol/hook-events.js';
import { hookSwitches } from '../../settings/merge/switches.js';
import { FAILURE_NEVER_BLOCKS } from '../../settings/schema/handler.js';
import type { EffectiveSettings } from '../../settings/types.js';
import { LONGEST_TIMER_MS } from '../dispatch/timeout.js';
import type { HookHandler } from './hook.js';

/** Milliseconds for a callback whose host names no limit. */
const CALLBACK_TIMEOUT_MS = 60_000;

const SESSION_END_VARIABLE = 'CLAUDE_CODE_SESSIONEND_HOOKS_TIMEOUT_MS';

type Values = EffectiveSettings['values'];

/** What the settings say about hooks as such. */
export interface HookPolicy {
  /** Why a hook of this source is not in force; undefined when it is. */
  dropped(source: SettingSource): string | undefined;
  /** A yes of the host's callbacks counts for nothing. */
  readonly callbacksRestrictOnly: boolean;
  /** What the failure of a guard means that does not say so itself. */
  readonly guardFailure: 'block' | 'continue';
  /** Exit code 1 of a guard is a failure, too, unless the guard itself says "continue". */
  readonly strictGuards: boolean;
  timeoutMs(event: HookEventName, hook: TimedHook): number;
  /** The handler without the variables that its source cannot hand to it, and which they are. */
  granted(
    handler: HookHandler,
    source: SettingSource,
  ): { readonly handler: HookHandler; readonly note?: string };
}

export interface TimedHook {
  readonly type: HookHandler['type'];
  /** Whose hook it is: what a project says about all hooks is about its own. */
  readonly source: SettingSource;
  /** What the hook says itself. */
  readonly own: number | undefined;
  /** A plugin does not make the end of a session longer. */
  readonly ofPlugin?: boolean;
}

export function policyOf(
  values: Values,
  env: Readonly<Record<string, string | undefined>>,
): HookPolicy {
  const switches = hookSwitches({ values });
  const allOff = switches.disabled('managed') !== undefined;
  return {
    callbacksRestrictOnly: switches.managedOnly || allOff,
    guardFailure: switches.failure === 'open' ? 'continue' : 'block',
    strictGuards: switches.failure === 'strict',
    dropped(source) {
      const reason = switches.disabled(source);
      return reason === undefined ? undefined : `${reason} is set`;
    },
    granted: (handler, source) => granted(handler, { source, named: switches.httpEnvVars ?? [] }),
    timeoutMs: (event, hook) => {
      const timeouts = switches.timeouts(hook.source);
      return Math.min(timeoutMs(event, hook, { timeouts, env }), LONGEST_TIMER_MS);
    },
  };
}

/** What the failure of a hook means. */
export function failureMeans(
  event: HookEventName,
  said: 'block' | 'continue' | undefined,
  { guardFailure }: Pick<HookPolicy, 'guardFailure'>,
): { readonly onFailure: 'block' | 'continue'; readonly note?: string } {
  const role: HookRole = hookEventFacts(event).role;
  if (role === 'observe' || FAILURE_NEVER_BLOCKS.has(event)) {
    if (said !== 'block') return { onFailure: 'continue' };
    const why = role === 'observe' ? 'its hooks only watch' : 'what it holds up is an end';
    return {
      onFailure: 'continue',
      note: `onFailure "block" has no effect at ${event}: ${why}`,
    };
  }
  // fail-closed: a guard that cannot answer refuses, unless it or a trusted setting says otherwise.
  return { onFailure: said ?? (role === 'gate' ? guardFailure : 'continue') };
}

/** Those who may hand out their own secrets. A project's or a plugin's file came from somebody else. */
const OWNERS: ReadonlySet<SettingSource> = new Set(['managed', 'cli', 'user', 'sdk'] as const);

/** What HTTP hooks may send is judged when they send it; here it is what a process inherits. */
function granted(
  handler: HookHandler,
  { source, named }: { readonly source: SettingSource; readonly named: readonly string[] },
): { readonly handler: HookHandler; readonly note?: string } {
  if (handler.type !== 'command' || OWNERS.has(source)) return { handler };
  const wanted = handler.allowedEnvVars ?? [];
  // fail-closed: a file of a project cannot allow itself what looks like a secret.
  const withheld = wanted.filter((name) => isSecretName(name) && !named.includes(name));
  if (withheld.length === 0) return { handler };
  const allowedEnvVars = Object.freeze(wanted.filter((name) => !withheld.includes(name)));
  const note = `it is not given ${withheld.join(', ')}, which only a person can hand over: name it in \`httpHookAllowedEnvVars\` of your own settings`;
  return { handler: Object.freeze({ ...handler, allowedEnvVars }), note };
}

interface LimitSources {
  readonly timeouts: Readonly<Record<string, number>>;
  readonly env: Readonly<Record<string, string | undefined>>;
}

function timeoutMs(event: HookEventName, hook: TimedHook, sources: LimitSources): number {
  if (event === 'SessionEnd') return sessionEndMs(hook, sources);
  return hook.own ?? own(sources.timeouts, event) ?? standardMs(event, hook.type);
}

function sessionEndMs({ own: said, ofPlugin }: TimedHook, { timeouts, env }: LimitSources): number {
  const facts = hookEventFacts('SessionEnd');
  const usual =
    positive(Number(env[SESSION_END_VARIABLE])) ??
    own(timeouts, 'SessionEnd') ??
    facts.timeoutMs ??
    LONGEST_SESSION_END_MS;
  const wanted = ofPlugin === true && said !== undefined ? Math.min(said, usual) : (said ?? usual);
  return Math.min(wanted, LONGEST_SESSION_END_MS);
}

function standardMs(event: HookEventName, type: HookHandler['type']): number {
  if (type === 'callback') return CALLBACK_TIMEOUT_MS;
  const asksModel = type === 'prompt' || type === 'agent';
  return (asksModel ? undefined : hookEventFacts(event).timeoutMs) ?? HOOK_TIMEOUTS[type];
}

function positive(value: unknown): number | undefined {
  return typeof value === 'number' && Number.isFinite(value) && value > 0 ? value : undefined;
}
