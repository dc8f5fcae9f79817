import { MOST_ENTRIES } from '../gate/budget.js';
import type { PathJudge, PathSpellings } from './paths.js';

interface LinkTests {
  isFine(target: PathSpellings): boolean | Promise<boolean>;
  /** Also asked about every name. */
  readonly isFineName?: ((name: string) => boolean) | undefined;
  /** What lies behind links counts, too; unless stated it does. */
  readonly follows?: boolean;
  /** So do directories in these; unless stated they do. */
  readonly deep?: boolean;
}

/**
 * Whether every link below these directories leads to where `isFine`, and so on from there: for commands that
 * follow links. Files and what does not exist have none below.
 */
export async function linksStay(
  starts: readonly PathSpellings[],
  judge: PathJudge,
  { isFine, isFineName = () => true, follows = true, deep = true }: LinkTests,
): Promise<boolean> {
  const queue = starts.map(({ real }) => real);
  const seen = new Set<string>();
  let entries = 0;
  for (let at = 0; at < queue.length; at++) {
    const directory = queue[at] ?? '';
    if (seen.has(directory)) continue;
    seen.add(directory);
    if ((await judge.disk.lstat(directory))?.kind !== 'directory') continue;
    for (const { name, kind } of await judge.disk.list(directory)) {
      judge.budget.spend();
      // fail-closed: where there is more than is looked at, a link may lead anywhere.
      if (++entries > MOST_ENTRIES) return false;
      if (!isFineName(name)) return false;
      const path = `${directory}/${name}`;
      if (kind === 'directory' && deep) queue.push(path);
      if (kind !== 'symlink') continue;
      const target = await judge.spell(path);
      if (!(await isFine(target))) return false;
      if (follows) queue.push(target.real);
    }
  }
  return true;
}
