import { originOf, type SettingSource, type Sourced } from '../../lib/sourced.js';
import { HOOK_EVENTS } from '../../protocol/hooks/hook-events.js';
import { type EffectiveSettings, isOfProject, type SettingValues } from '../types.js';

/** What settings say about all hooks together. */
export interface HookSwitches {
  /** An administrator lets only managed hooks run; callbacks of a host can still refuse. */
  readonly managedOnly: boolean;
  /** Why hooks of a source do not run; undefined when they do. */
  disabled(source: SettingSource): string | undefined;
  /** What it means when a guarding hook fails that does not say so itself. */
  readonly failure: 'open' | 'closed' | 'strict';
  /** Milliseconds by event, for hooks of this source that name no limit. */
  timeouts(source: SettingSource): Readonly<Record<string, number>>;
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
  const envVars = 'httpHookAllowedEnvVars';
  return {
    managedOnly,
    disabled(source) {
      // Callbacks are code of the host, not hooks of files; taking them out would lose its guards.
      if (source === 'sdk') return undefined;
      if (only !== undefined && managedOnly && source !== 'managed') {
        return `\`allowManagedHooksOnly\` (${originOf(only)})`;
      }
      return switchedOff(values, source);
    },
    failure: failureOf(values.get('portcullis.hookFailure')),
    // fail-closed: a repository cannot make its user's guards give up before they have answered.
    timeouts: (source) => limits(values, isOfProject(source) ? () => true : isOfPerson),
    probe: values.get('portcullis.probeHooks')?.value === true,
    // fail-closed: a repository adds nothing to a list by which its user limits hooks, be it empty. Its
    // own list restricts where its user has none.
    httpUrls:
      listOf(values, 'allowedHttpHookUrls', isOfPerson) ?? listOf(values, 'allowedHttpHookUrls'),
    // fail-closed: a repository does not name the variables that its own hooks may send.
    httpEnvVars:
      listOf(values, envVars, isOfPerson) ??
      (listOf(values, envVars)?.length === 0 ? [] : undefined),
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
function failureOf(said: Sourced<unknown> | undefined): HookSwitches['failure'] {
  if (said?.value === 'strict') return 'strict';
  return said?.value === 'open' && !isOfProject(said.source) ? 'open' : 'closed';
}

function isOfPerson(source: SettingSource): boolean {
  return !isOfProject(source);
}

function listOf(
  values: SettingValues,
  key: string,
  counts: (source: SettingSource) => boolean = () => true,
): readonly string[] | undefined {
  if (!values.has(key, counts)) return undefined;
  // Not the list of all, in which an item that several have is that of the strongest.
  const said = values.said(key).filter(({ source }) => counts(source));
  return [...new Set(said.map(({ value }) => String(value)))];
}

function limits(
  values: SettingValues,
  counts: (source: SettingSource) => boolean,
): Readonly<Record<string, number>> {
  return Object.fromEntries(
    Object.keys(HOOK_EVENTS).flatMap((event) => {
      const said = values.get(`portcullis.hookTimeouts.${event}`);
      const isLimit = said !== undefined && typeof said.value === 'number' && counts(said.source);
      return isLimit ? [[event, said.value as number]] : [];
    }),
  );
}

/** Who keeps flags and hosts from bringing agents, plugins and servers along. Undefined: nobody. */
export function sideloadRefusal({ values }: Pick<EffectiveSettings, 'values'>): string | undefined {
  return values.get('disableSideloadFlags')?.value === true
    ? 'an administrator forbids it (disableSideloadFlags)'
    : undefined;
}
