import type { Sourced } from '../../lib/sourced.js';
import type { EffectiveSettings, SettingValues } from '../../settings/types.js';

/**
 * Who asks for a sandbox; undefined: nobody does. A repository can switch it on, and off only where
 * nobody else has said anything.
 */
export function sandboxAskedBy(values: SettingValues): Sourced<true> | undefined {
  const said = values.said('sandbox.enabled');
  const others = said.find((one) => !isOfProject(one));
  const isOn = (one: Sourced<unknown> | undefined): one is Sourced<true> => one?.value === true;
  return isOn(others) ? others : said.filter(isOfProject).find(isOn);
}

export function isOfProject({ source }: Sourced<unknown>): boolean {
  return source === 'project' || source === 'local';
}

/** Files of settings that the command line named: they can lie anywhere, in the project too. */
export function namedSettings({ places }: Pick<EffectiveSettings, 'places'>): readonly string[] {
  return places.filter(({ source }) => source === 'cli').map(({ path }) => path);
}
