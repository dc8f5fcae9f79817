import { dirname, isInside } from '../../platform/fs/paths.js';
import { patternsOf } from '../rules/list.js';
import type { RuleSet } from '../rules/rule.js';
import { moved, type PathFileSystem } from './paths.js';
import { TREES_BY_PLACE, type WorkingTrees } from './working-trees.js';

/** A file or directory that a restriction names through a link. */
interface LinkedPlace {
  readonly place: string;
  readonly real: string;
}

/**
 * The working trees, and with them the places that restrictions name through links: what lies at the real place stands
 * for what the rule names, as a file in a working tree does for the one in the checkout.
 */
export async function withLinkedPlaces(
  trees: WorkingTrees = TREES_BY_PLACE,
  { deny, ask }: Pick<RuleSet, 'deny' | 'ask'>,
  disk: PathFileSystem,
): Promise<WorkingTrees> {
  const linked = await linkedPlaces(deny.concat(ask), disk);
  if (linked.length === 0) return trees;
  return {
    checkouts: trees.checkouts,
    standsFor: (path) => [
      ...trees.standsFor(path),
      ...linked.flatMap(({ place, real }) => moved(path, real, place)),
    ],
    leadsTo: (directory) =>
      trees.leadsTo(directory) || linked.some(({ real }) => isInside(real, directory)),
  };
}

/** Whether a link is on the way to a path; no path leads through what is not there. */
type Way = 'plain' | 'linked' | 'missing';

async function linkedPlaces(
  rules: RuleSet['deny'],
  disk: PathFileSystem,
): Promise<readonly LinkedPlace[]> {
  const ways = new Map<string, Way>();
  const wayTo = async (path: string): Promise<Way> => {
    const known = ways.get(path);
    if (known !== undefined) return known;
    const above = dirname(path) === path ? 'plain' : await wayTo(dirname(path));
    const way = above === 'plain' ? await ownWay(path, disk) : above;
    ways.set(path, way);
    return way;
  };
  const patterns = rules.flatMap(({ spec }) => (spec.kind === 'path' ? patternsOf(spec) : []));
  const found: LinkedPlace[] = [];
  for (const place of new Set(patterns.map(({ place }) => place))) {
    if ((await wayTo(place)) !== 'linked') continue;
    // A link that leads in a circle leads nowhere.
    const real = await disk.realPath(place).catch(() => place);
    if (real !== place) found.push({ place, real });
  }
  return found;
}

async function ownWay(path: string, disk: PathFileSystem): Promise<Way> {
  const kind = (await disk.lstat(path).catch(() => undefined))?.kind;
  if (kind === undefined) return 'missing';
  return kind === 'symlink' ? 'linked' : 'plain';
}
