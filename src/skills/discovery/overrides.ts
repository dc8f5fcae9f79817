import { own } from '../../lib/own.js';
import type { SettingsFile, SettingValues } from '../../settings/types.js';
import type { SkillOverride } from '../listing/listing.js';

/** From most to least available. */
const REACH: readonly SkillOverride[] = ['on', 'name-only', 'user-invocable-only', 'off'];

/** Whether any settings file contains `skillOverrides`; checked first, because usually none does. */
export function hasOverrides(files: readonly Pick<SettingsFile, 'content'>[]): boolean {
  return files.some(({ content }) => own(content, 'skillOverrides') !== undefined);
}

/** The `skillOverrides` setting of a skill; undefined when there is none. */
export function overrideFrom(
  values: Pick<SettingValues, 'get' | 'said'>,
  name: string,
): SkillOverride | undefined {
  const key = `skillOverrides.${name}`;
  const inForce = values.get(key);
  if (inForce === undefined) return undefined;
  const winner = asOverride(inForce.value);
  if (inForce.source !== 'project' && inForce.source !== 'local') return winner;
  // fail-closed: a repository may turn a skill off, but not on again when its user turned it off.
  const own = values.said(key).find(({ source }) => source !== 'project' && source !== 'local');
  return own === undefined ? winner : stricter(winner, asOverride(own.value));
}

function asOverride(value: unknown): SkillOverride | undefined {
  return REACH.find((known) => known === value);
}

function stricter(
  one: SkillOverride | undefined,
  other: SkillOverride | undefined,
): SkillOverride | undefined {
  const reach = Math.max(REACH.indexOf(one ?? 'on'), REACH.indexOf(other ?? 'on'));
  return REACH[reach];
}
