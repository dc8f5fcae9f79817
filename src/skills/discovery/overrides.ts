import { own } from '../../lib/own.js';
import type { SettingsFile, SettingValues } from '../../settings/types.js';
import type { SkillOverride } from '../listing/listing.js';

/** How much is left of a skill, most first. */
const REACH: readonly SkillOverride[] = ['on', 'name-only', 'user-invocable-only', 'off'];

/** Whether any file says something about skills (`skillOverrides`). Mostly none does, of hundreds of them. */
export function hasOverrides(files: readonly Pick<SettingsFile, 'content'>[]): boolean {
  return files.some(({ content }) => own(content, 'skillOverrides') !== undefined);
}

/** What the settings say about a skill of this name (`skillOverrides`); undefined when nothing. */
export function overrideFrom(
  values: Pick<SettingValues, 'get' | 'said'>,
  name: string,
): SkillOverride | undefined {
  const key = `skillOverrides.${name}`;
  const inForce = values.get(key);
  if (inForce === undefined) return undefined;
  const winner = asOverride(inForce.value);
  if (inForce.source !== 'project' && inForce.source !== 'local') return winner;
  // fail-closed: a repository may switch a skill off, not on again what its user switched off.
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
