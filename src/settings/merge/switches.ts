import { originOf, type SettingSource, type Sourced } from '../../lib/sourced.js';
import { HOOK_EVENTS } from '../../protocol/hooks/hook-events.js';
import { type EffectiveSettings, isOfProject, type SettingValues } from '../types.js';

/** The settings that apply to all hooks. */
export interface HookSwitches {
  /** An administrator allows only managed hooks; a host's callbacks still run. */
  readonly managedOnly: boolean;
  /** Why hooks of a source are disabled; undefined when they run. */
  disabled(source: SettingSource): string | undefined;
  /** The effect of a failing guard hook that does not declare its own. */
  readonly failure: 'open' | 'closed' | 'strict';
  /** Default timeouts in milliseconds by event, for hooks of this source. */
  timeouts(source: SettingSource): Readonly<Record<string, number>>;
  /** Runs every guard hook once at the start. */
  readonly probe: boolean;
  /** The only URLs that HTTP hooks may call, with `*` as wildcard; undefined without restriction. */
  readonly httpUrls: readonly string[] | undefined;
  /** The only variables for headers of HTTP hooks; undefined leaves each hook its own list. */
  readonly httpEnvVars: readonly string[] | undefined;
}

export function hookSwitches({ values }: Pick<EffectiveSettings, 'values'>): HookSwitches {
  const only = values.get('allowManagedHooksOnly');
  const managedOnly = only?.value === true;
  const envVars = 'httpHookAllowedEnvVars';
  return {
    managedOnly,
    disabled(source) {
      // A host's callbacks are not hooks of files; disabling them would remove its guards.
      if (source === 'sdk') return undefined;
      if (only !== undefined && managedOnly && source !== 'managed') {
        return `\`allowManagedHooksOnly\` (${originOf(only)})`;
      }
      return switchedOff(values, source);
    },
    failure: failureOf(values.get('portcullis.hookFailure')),
    // fail-closed: a repository cannot shorten the timeouts of its user's guards.
    timeouts: (source) => limits(values, isOfProject(source) ? () => true : isOfPerson),
    probe: values.get('portcullis.probeHooks')?.value === true,
    // fail-closed: a repository cannot extend its user's list, even an empty one; without one its own list
    // restricts.
    httpUrls:
      listOf(values, 'allowedHttpHookUrls', isOfPerson) ?? listOf(values, 'allowedHttpHookUrls'),
    // fail-closed: a repository cannot choose which variables its hooks send.
    httpEnvVars:
      listOf(values, envVars, isOfPerson) ??
      (listOf(values, envVars)?.length === 0 ? [] : undefined),
  };
}

/**
 * fail-closed: `disableAllHooks` reaches only as far as its author's authority. Only an administrator
 * disables managed hooks; an administrator or the user disables the user's; a repository's `true` disables
 * only its own hooks and its `false` enables nothing.
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

/** fail-closed: only the exact value "open" counts, and not from a repository. */
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
  // `said` instead of `list`, which assigns shared items to the strongest source only.
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

/** Why flags and hosts may not add agents, plugins and servers; undefined when they may. */
export function sideloadRefusal({ values }: Pick<EffectiveSettings, 'values'>): string | undefined {
  return values.get('disableSideloadFlags')?.value === true
    ? 'an administrator forbids it (disableSideloadFlags)'
    : undefined;
}
