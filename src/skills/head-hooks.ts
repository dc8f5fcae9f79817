import { isRecord } from '../lib/own.js';
import { RULE_TOOLS } from '../permissions/rule-tools.js';
import { oddHookEvent } from '../protocol/hook-events.js';
import { matcherFaults } from '../settings/schema/matcher.js';
import { oneLine } from './names.js';

/** Something about the hooks in a skill's head. */
export interface HookFault {
  /** A guard among them would guard nothing: the skill must not be used. */
  readonly stops: boolean;
  readonly message: string;
  /** What to look for in the head. */
  readonly at?: string;
}

/** fail-closed: a guard at an event that there is not, or for a tool that there is not, guards nothing. */
export function hookFaults(hooks: unknown): readonly HookFault[] {
  const odd = eventsIn(hooks)
    .filter((name) => oddHookEvent(name)?.kind === 'unknown')
    .map((name) => ({ stops: true, message: `there is no event "${oneLine(name)}"`, at: name }));
  const matchers = matcherFaults(hooks, Object.keys(RULE_TOOLS)).map(
    ({ stops, message, matcher }) => ({ stops, message: oneLine(message), at: matcher }),
  );
  return [...odd, ...matchers];
}

function eventsIn(hooks: unknown): readonly string[] {
  const maps: readonly unknown[] = Array.isArray(hooks) ? hooks : [hooks];
  return maps.flatMap((map) => (isRecord(map) ? Object.keys(map) : []));
}
