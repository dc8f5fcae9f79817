import type { WatchedPath } from '../../settings/types.js';
import { type EventDeps, gateRefusals } from '../answers/round.js';
import { ask, type HookFields, type Scene } from '../dispatch/scene.js';

/** One file that is not as it was. */
export type ConfigChange = HookFields<'ConfigChange'>;

const SOURCES: Readonly<Record<WatchedPath['source'], ConfigChange['source']>> = {
  managed: 'policy_settings',
  // Hooks have no name for settings of the command line or a host. They belong to the user, so hooks that
  // guard the user's settings see them.
  cli: 'user_settings',
  sdk: 'user_settings',
  user: 'user_settings',
  project: 'project_settings',
  local: 'local_settings',
};

/** Changed settings files as hooks read of them, each once. */
export function configChangesOf(changed: readonly WatchedPath[]): readonly ConfigChange[] {
  const byPlace = new Map<string, ConfigChange>();
  for (const { path, source } of changed) {
    byPlace.set(`${source} ${path}`, { source: SOURCES[source], file_path: path });
  }
  return [...byPlace.values()];
}

/** ConfigChange: why the changes must not be applied; undefined when no hook objects. */
export async function configObjections(
  { dispatch, tell }: EventDeps,
  changes: readonly ConfigChange[],
  scene: Scene,
): Promise<string | undefined> {
  const rounds = changes.map(async (change) => {
    const { source, file_path: where = source } = change;
    const round = await ask(dispatch, 'ConfigChange', {
      scene,
      fields: { ...change },
      matched: [source],
    });
    const refusals = gateRefusals(round).map((refusal) => `${where}: ${refusal}`);
    if (source !== 'policy_settings') return refusals;
    // Hooks cannot refuse what an administrator changed.
    for (const one of refusals) tell(`settings of an administrator hold all the same: ${one}`);
    return [];
  });
  return (await Promise.all(rounds)).flat().join('\n') || undefined;
}
