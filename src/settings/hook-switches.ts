import { HOOK_EVENTS } from '../protocol/hook-events.js';
import { originOf, type SettingSource, type Sourced } from '../util/sourced.js';
import type { EffectiveSettings, SettingValues } from './types.js';

/** What settings say about all hooks together. */
export interface HookSwitches {
  /** An administrator lets only managed hooks run; callbacks of a host can still refuse. */
  readonly managedOnly: boolean;
  /** Why hooks of a source do not run; undefined when they do. */
  disabled(source: SettingSource): string | undefined;
  /** What it means when a guarding hook fails that does not say so itself. */
  readonly failure: 'open' | 'closed';
  /** Milliseconds by event, for hooks that name no limit. */
  readonly timeouts: Readonly<Record<string, number>>;
  /** Every guarding hook is asked once at the start. */
  readonly probe: boolean;
  /** The only URLs that HTTP hooks may call, `*` for anything. Undefined: nobody restricts them. */
  readonly httpUrls: readonly string[] | undefined;
  /** The only variables that headers of HTTP hooks may use. Undefined: those a hook lists itself. */
  readonly httpEnvVars: readonly string[] | undefined;
}

export function hookSwitches({ values }: Pick<EffectiveSettings, 'values'>): HookSwitches {
  const only = values.get('allowManagedHooksOnly');
  const managedOnly = only?.value === true;
  const texts = (key: string): readonly string[] | undefined =>
    values.has(key) ? values.list(key).map(({ value }) => String(value)) : undefined;
  // fail-closed: a repository does not name the variables that its own hooks may send.
  const ofPerson = values
    .said('httpHookAllowedEnvVars')
    .filter(({ source }) => source !== 'project' && source !== 'local')
    .map(({ value }) => String(value));
  const isEmpty = texts('httpHookAllowedEnvVars')?.length === 0;
  const noneOrUndefined = isEmpty ? [] : undefined;
  return {
    managedOnly,
    disabled(source) {
      // Callbacks are code of the host, not hooks of files; taking them out would lose its guards.
      if (source === 'sdk') return undefined;
      if (only !== undefined && managedOnly && source !== 'managed')
        return `\`allowManagedHooksOnly\` (${originOf(only)})`;
      return switchedOff(values, source);
    },
    failure: isOpened(values.get('portcullis.hookFailure')) ? 'open' : 'closed',
    timeouts: timeoutsOf(values),
    probe: values.get('portcullis.probeHooks')?.value === true,
    httpUrls: texts('allowedHttpHookUrls'),
    httpEnvVars: ofPerson.length > 0 ? [...new Set(ofPerson)] : noneOrUndefined,
  };
}

/**
 * fail-closed: a word on `disableAllHooks` reaches no further than who says it. An administrator's
 * hooks: only an administrator's word. A person's hooks: that or the person's own. A repository's
 * `true` switches off the repository's own hooks, and its `false` switches nothing on.
 */
function switchedOff(values: SettingValues, source: SettingSource): string | undefined {
  const said = values.said('disableAllHooks');
  const saidBy = (...sources: readonly SettingSource[]): string | undefined => {
    const decides = said.find((one) => sources.includes(one.source));
    return decides?.value === true ? `\`disableAllHooks\` (${originOf(decides)})` : undefined;
  };
  if (source === 'managed') return saidBy('managed');
  const ofPerson = saidBy('managed', 'cli', 'user');
  if (ofPerson !== undefined) return ofPerson;
  if (source === 'local') return saidBy('local');
  return source === 'project' ? saidBy('local', 'project') : undefined;
}

/** fail-closed: only the very word opens, and a repository cannot make its user's guards optional. */
function isOpened(said: Sourced<unknown> | undefined): boolean {
  return said?.value === 'open' && said.source !== 'project' && said.source !== 'local';
}

function timeoutsOf(values: SettingValues): Readonly<Record<string, number>> {
  const timeouts: Record<string, number> = {};
  for (const event of Object.keys(HOOK_EVENTS)) {
    const milliseconds = values.get(`portcullis.hookTimeouts.${event}`)?.value;
    if (typeof milliseconds === 'number') timeouts[event] = milliseconds;
  }
  return timeouts;
}
