import type { EffectiveSettings } from '../types.js';

/** Who keeps flags and hosts from bringing agents, plugins and servers along. Undefined: nobody. */
export function sideloadRefusal({ values }: Pick<EffectiveSettings, 'values'>): string | undefined {
  return values.get('disableSideloadFlags')?.value === true
    ? 'an administrator forbids it (disableSideloadFlags)'
    : undefined;
}
