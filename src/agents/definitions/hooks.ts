import { oddHookEvent } from '../../protocol/hook-events.js';
import { matcherFaults } from '../../settings/schema/matcher.js';
import { oneLine } from '../../skills/discovery/names.js';
import type { AgentFinding } from './types.js';

/** A finding, and the name or text among the hooks that it is about. */
export interface HookFinding extends Pick<AgentFinding, 'severity' | 'message'> {
  readonly at: string;
}

/** fail-closed: a guard at an event that there is not, or for a tool that there is not, would guard nothing. */
export function hookFindings(
  hooks: Readonly<Record<string, unknown>>,
  knownTools: readonly string[],
): readonly HookFinding[] {
  const matchers = matcherFaults(hooks, knownTools).map(
    ({ stops, message, matcher }): HookFinding => ({
      severity: stops ? 'error' : 'warning',
      message: `its hooks: ${oneLine(message)}`,
      at: matcher,
    }),
  );
  return [...Object.keys(hooks).flatMap(eventFinding), ...matchers];
}

function eventFinding(event: string): readonly HookFinding[] {
  const odd = oddHookEvent(event);
  if (odd === undefined) return [];
  const lost = `its hooks at "${oneLine(event)}" never run`;
  if (odd.kind === 'foreign') {
    const message = `${lost}: an event of another program`;
    return [{ severity: 'warning', message, at: event }];
  }
  const hint = odd.near === undefined ? '' : `; did you mean ${odd.near}?`;
  const message = `${lost}: there is no such event${hint}`;
  return [{ severity: 'error', message, at: event }];
}
