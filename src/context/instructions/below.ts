import { isInside } from '../../platform/fs/paths.js';
import type { EnforcedRules } from '../enforced/enforced.js';
import type { World } from './load-context.js';
import { type Gathering, newGathering } from './load-result.js';
import { MOST_BELOW, nestedDirectories } from './nested-search.js';
import { asFound, isDirectory, isForeign } from './places.js';
import type { NestedFindings } from './report.js';
import type { Taking } from './types.js';

/** Restrictions in folders below. */
export interface BelowRules extends EnforcedRules {
  /** Which of the paths are directories, also as the files see them. */
  readonly directories: readonly string[];
  /** There are more folders than were looked at. */
  readonly cut: boolean;
}

/** What each folder below would bring, were somebody to work in it. */
export async function waitingBelow(
  world: World,
  seen: ReadonlySet<string>,
): Promise<NestedFindings> {
  const [project] = world.projects;
  if (project === undefined) return { found: [], cut: false };
  const { directories, cut } = await nestedDirectories(world.fs, project);
  const found: { folder: string; gathering: Gathering }[] = [];
  const known = new Set(seen);
  for (const folder of directories) {
    const gathering = newGathering(known);
    await world.discovery.nested(folder, { reason: 'nested_traversal' }, gathering);
    for (const real of gathering.seen) known.add(real);
    found.push({ folder, gathering });
  }
  return { found, cut };
}

/** What the folders in these directories bring, for the sake of what it enforces. */
export async function takeBelow(
  world: World,
  paths: readonly string[],
  into: Gathering,
): Promise<Pick<BelowRules, 'directories' | 'cut'>> {
  const directories: string[] = [];
  let isCut = false;
  for (const path of new Set(paths)) {
    if (!(await isDirectory(world.fs, path))) continue;
    directories.push(path, ...world.projects.map((project) => asFound(path, project)));
    for (const project of world.projects) {
      const root = asFound(path, project);
      if (!isInside(root, project.root) || isForeign(root, project)) continue;
      const place = { root, cwd: project.cwd, memory: world.folders, most: MOST_BELOW };
      const found = await nestedDirectories(world.fs, place);
      isCut ||= found.cut;
      for (const folder of found.directories) {
        const how: Taking = { reason: 'nested_traversal', trigger: folder };
        await world.discovery.nested(folder, how, into);
      }
    }
  }
  return { directories, cut: isCut };
}
