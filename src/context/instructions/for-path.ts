import type { FileStat } from '../../platform/fs/fs.js';
import { isInside } from '../../platform/fs/paths.js';
import type { Surveys } from './discovery.js';
import type { World } from './load-context.js';
import { enforcingGathering, type Gathering, isAdmitted, newGathering } from './load-result.js';
import { asFound, directoriesTowards, isDirectory, type ProjectPlace } from './places.js';
import type { Taking, WaitingRule } from './types.js';

/** What stands at a path, where somebody has looked a moment ago. */
export type KindOf = (path: string) => FileStat['kind'] | undefined;

/** What is known of the files of a call already. */
export interface CallLook {
  readonly kindOf: KindOf;
  /** Directories that were looked at already, for whoever asks about many files. */
  readonly surveys?: Surveys;
}

/** What the use of files brings that was not shown yet. */
export async function touchedIn(
  world: World,
  use: {
    shown: Gathering;
    paths: readonly string[];
    signal: AbortSignal;
    look: CallLook | undefined;
  },
): Promise<Gathering> {
  const { seen, waiting } = use.shown;
  const found = newGathering(seen);
  for (const path of use.paths) {
    use.signal.throwIfAborted();
    // Whoever lists a directory has not yet worked in it.
    const itself = await standsForItself(world, path, use.look);
    if (!itself) await takeTowards(world, path, { found, waiting, look: use.look });
  }
  return found;
}

/** Whatever was shown before: restrictions do not fade. */
export async function nearbyIn(
  world: World,
  {
    waiting,
    paths,
    look,
  }: {
    waiting: readonly WaitingRule[];
    paths: readonly string[];
    look: CallLook | undefined;
  },
): Promise<Gathering> {
  const found = enforcingGathering();
  for (const path of paths) {
    const itself = await standsForItself(world, path, look);
    await takeTowards(world, path, { found, waiting, look, itself });
  }
  return found;
}

/** Whether a path is a directory, and not only in one. */
async function standsForItself(
  world: World,
  path: string,
  look: CallLook | undefined,
): Promise<boolean> {
  const known = look?.kindOf(path);
  return known === undefined ? await isDirectory(world.fs, path) : known === 'directory';
}

/** These paths, also as the files see them. */
export function namesIn({ projects }: World, paths: readonly string[]): readonly string[] {
  const others: string[] = [];
  for (let at = 0; at < projects.length; at++) {
    const project = projects[at] as ProjectPlace;
    if (project.root === project.realRoot) continue;
    for (const path of paths) {
      const found = asFound(path, project);
      if (found !== path) others.push(found);
    }
  }
  return others.length === 0 ? paths : [...new Set([...paths, ...others])];
}

/** What lies on the way to a path, and the rules that its name brings into play. */
async function takeTowards(
  world: World,
  path: string,
  into: {
    found: Gathering;
    waiting: readonly WaitingRule[];
    look: CallLook | undefined;
    itself?: boolean;
  },
): Promise<void> {
  const { projects, discovery, loader } = world;
  const { found, waiting, look, itself = false } = into;
  for (const project of projects) {
    const target = asFound(path, project);
    if (!isInside(target, project.root)) continue;
    const nested: Taking = { reason: 'nested_traversal', trigger: path };
    for (const directory of directoriesTowards(target, project, { itself })) {
      await discovery.nested(directory, nested, found, look?.surveys);
    }
    for (const rule of waitingIn(waiting, found.waiting)) {
      const isKnown = found.seen.has(rule.real) && isAdmitted(found, rule.place, rule.real);
      if (isKnown || !rule.fits(target)) continue;
      const by: Taking = { reason: 'path_glob_match', trigger: path, when: rule };
      await loader.take(rule.place, by, found);
    }
  }
}

/** Both, each rule once. Mostly there is none. */
function waitingIn(
  known: readonly WaitingRule[],
  more: readonly WaitingRule[],
): readonly WaitingRule[] {
  if (more.length === 0) return known;
  const waits = new Set(known.map(({ real }) => real));
  return [...known, ...more.filter(({ real }) => !waits.has(real))];
}
