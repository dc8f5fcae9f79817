import type { FileStat } from '../../platform/fs/fs.js';
import { dirname } from '../../platform/fs/paths.js';
import { treeBudget } from '../gate/budget.js';
import type { CallView } from '../gate/view.js';
import { isSameFile, searchTwin } from '../paths/hard-links.js';
import type { ManyNamed } from '../paths/paths.js';
import type { TreeSkips } from '../shell/effects/recursion.js';
import { PROTECTED_NAMES, type ProtectedPlace, protectedRule } from './protected-paths.js';

/** What is written through another name; without a path: not all of `place` could be compared. */
interface Twin {
  readonly of: ManyNamed;
  readonly path?: string;
}

/** Our own directories hold sessions, of which there may be many. */
const DEEPEST_OWN = 4;
const DEEPEST_IN_HOME = 4;

/**
 * A protected file that one of these files with several names (hard links) is another name of: what is
 * written to the one is in the other. In the home only what lies directly in it counts as a place, and
 * in those what is near: caches of programs are large.
 */
export async function protectedTwin(
  files: readonly ManyNamed[],
  { judge, home }: CallView,
  { roots, own = [], isHeld }: ProtectedPlace & { isHeld(path: string): boolean },
): Promise<Twin | undefined> {
  const [first] = files;
  if (first === undefined) return undefined;
  const budget = treeBudget();
  let of: ManyNamed | undefined;
  const isTwin = (stat: FileStat): boolean => {
    of = files.find(({ file }) => isSameFile(file, stat));
    return of !== undefined;
  };
  const isCopy = (name: string, path = ''): boolean =>
    (name === 'node_modules' && !isHeld(path)) ||
    // What git keeps by its content: nobody runs or trusts it by name, and clones share it by hard links.
    ((name === 'objects' || name === 'lfs') && dirname(path).endsWith('/.git'));
  const isFarFromHome = (name: string, path = ''): boolean =>
    isCopy(name, path) || (dirname(path) === home && !mayHold(name));
  const below = (directory: string, depth: number, skip: TreeSkips['directory'] = isCopy) => ({
    directory,
    text: directory,
    depth,
    skips: { directory: skip },
  });
  const trees = [
    ...own.map((directory) => below(directory, DEEPEST_OWN)),
    below(home, DEEPEST_IN_HOME, isFarFromHome),
    ...roots.map((directory) => below(directory, Number.POSITIVE_INFINITY)),
  ];
  let doubt: Twin | undefined;
  for (const tree of trees) {
    const how = { judge, access: 'write', budget, isTwin } as const;
    const found = await searchTwin([protectedRule(isHeld)], tree, how);
    if (found?.kind === 'covered') return { of: of ?? first, path: found.path };
    if (found !== undefined) doubt ??= { of: first };
  }
  return doubt;
}

function mayHold(name: string): boolean {
  const folded = name.toLowerCase();
  return PROTECTED_NAMES.directories.has(folded) || folded === '.config';
}
