import type { Sourced } from '../../lib/sourced.js';
import type { EffectiveSettings, RuleLists } from '../types.js';

/**
 * Settings for a host that decides by itself: what files allow does not count, be it as a rule, as a
 * mode or as one more directory, an administrator's included. What they deny or ask about stays.
 */
export function withoutFileGrants(settings: EffectiveSettings): EffectiveSettings {
  const { permissions } = settings;
  const { defaultMode, ...rest } = permissions;
  return {
    ...settings,
    permissions: {
      ...rest,
      ...held(permissions),
      additionalDirectories: permissions.additionalDirectories.filter(isGiven),
      ...(permissions.agents === undefined
        ? {}
        : { agents: permissions.agents.map((one) => ({ ...one, ...held(one) })) }),
      // fail-closed: modes that ask no less than the default one may stay.
      ...(defaultMode !== undefined && (isGiven(defaultMode) || RESTRICTS.has(defaultMode.value))
        ? { defaultMode }
        : {}),
    },
  };
}

const RESTRICTS: ReadonlySet<string> = new Set(['default', 'plan', 'dontAsk']);

function held({ allow, ask, deny }: RuleLists): RuleLists {
  return { allow: allow.filter(isGiven), ask, deny };
}

/** Whether the program itself said it, not a file. */
function isGiven({ source }: Pick<Sourced<unknown>, 'source'>): boolean {
  return source === 'cli' || source === 'sdk';
}
