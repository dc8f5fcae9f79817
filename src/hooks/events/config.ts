import type { WatchedPath } from '../../settings/types.js';
import { type EventDeps, gateRefusals } from '../answers/round.js';
import { ask, type HookFields, type Scene } from '../dispatch/scene.js';

/** One file that is not as it was. */
export type ConfigChange = HookFields<'ConfigChange'>;

const SOURCES: Readonly<Record<WatchedPath['source'], ConfigChange['source']>> = {
  managed: 'policy_settings',
  // What the command line or a host names belongs to whoever started the program. Hooks know no
  // name for it, and no hook that guards the person's settings may miss it.
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

/** ConfigChange: why the changes are not to be taken over; undefined when nobody objects. */
export async function configObjections(
  deps: EventDeps,
  changes: readonly ConfigChange[],
  scene: Scene,
): Promise<string | undefined> {
  const all = await Promise.all(changes.map((change) => objectionsTo(deps, change, scene)));
  return all.flat().join('\n') || undefined;
}

async function objectionsTo(
  { dispatch, tell }: EventDeps,
  change: ConfigChange,
  scene: Scene,
): Promise<readonly string[]> {
  const question = { scene, fields: { ...change }, matched: [change.source] };
  const round = await ask(dispatch, 'ConfigChange', question);
  const where = change.file_path ?? change.source;
  const refusals = gateRefusals(round).map((refusal) => `${where}: ${refusal}`);
  if (change.source !== 'policy_settings') return refusals;
  // What an administrator changed is nobody's to refuse.
  for (const refusal of refusals)
    tell(`settings of an administrator hold all the same: ${refusal}`);
  return [];
}
