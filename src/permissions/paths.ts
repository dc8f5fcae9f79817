import type { FileStat, FileSystem } from '../env/fs.js';
import { basename, dirname, isInside, resolve, separator } from '../env/paths.js';
import { systemCodeOf } from '../errors.js';
import type { PathSpellings } from '../tools/tool.js';
import { type AtOnce, isLater, whenThere } from '../util/at-once.js';
import { filesFitting } from './file-patterns.js';
import { repositoryTrap } from './shell/git-config.js';
import { TREES_BY_PLACE, type WorkingTrees } from './working-trees.js';

export type { PathSpellings } from '../tools/tool.js';

export interface PathJudge {
  /** At once where the file system answers at once, and no link is on the way. */
  spell(path: string): AtOnce<PathSpellings>;
  /** As `spell`, for a path as a shell word has it: `..` is taken after links are followed. */
  spellFrom(directory: string, path: string): Promise<readonly PathSpellings[]>;
  /** The files a shell pattern stands for now; undefined when that is not a simple look into one directory. */
  expand(directory: string, pattern: string): Promise<readonly string[] | undefined>;
  /** The file that the path leads to, where it is a regular one with several names. */
  manyNamed(path: PathSpellings): FileStat | undefined | Promise<FileStat | undefined>;
  /** Whether both the name and what it leads to lie in one of the working directories. */
  inside(path: PathSpellings): Promise<boolean>;
  /** What git would start for a command that only looks, because the repository there says so. */
  repositoryTrap(directory: string): Promise<string | undefined>;
  readonly trees: WorkingTrees;
  /** For those who have to look further. */
  readonly disk: PathFileSystem;
}

export type PathFileSystem = Pick<
  FileSystem,
  'realPath' | 'list' | 'lstat' | 'lstatNow' | 'readText' | 'readBytes'
>;

/** Looks at the disk once per path; made new for every call that is judged. */
export function createPathJudge(
  fs: PathFileSystem,
  place: {
    readonly roots: readonly string[];
    readonly home: string;
    readonly trees?: WorkingTrees | undefined;
  },
): PathJudge {
  const { trees = TREES_BY_PLACE } = place;
  const roots = [...place.roots, place.home];
  const known = new Map<string, AtOnce<string>>();
  const pinned = pinnedRoots(fs);
  const looks: Looks = { missing: new Set(), kinds: new Map(), manyNamed: new Map() };
  const traps = new Map<string, Promise<string | undefined>>();
  const look = (path: string): AtOnce<string> => {
    const pin = pinned.get(path);
    if (pin !== undefined) return pin;
    if (roots.includes(path)) {
      const found = realOrTooLong(fs, path);
      pinned.set(path, found);
      found.then(
        (there) => pinned.set(path, there),
        () => pinned.delete(path),
      );
      return found;
    }
    const isBelow = place.roots.some((root) => path.startsWith(root));
    if (!isBelow) return realOrTooLong(fs, path);
    return realBelow(fs, path, { above: real(dirname(path)), looks });
  };
  const real = (path: string): AtOnce<string> => {
    const before = known.get(path);
    if (before !== undefined) return before;
    const found = look(path);
    known.set(path, found);
    return found;
  };

  const spellings = new Map<string, AtOnce<PathSpellings>>();
  const spellNormal = (literal: string): AtOnce<PathSpellings> => {
    const before = spellings.get(literal);
    if (before !== undefined) return before;
    const found = spellOut(literal);
    spellings.set(literal, found);
    return found;
  };
  const spell = (path: string): AtOnce<PathSpellings> => spellNormal(resolve(path));

  /** Roots that are reached by a link; most are not. */
  let linkedRoots: AtOnce<LinkedRoots> | undefined;
  const spellOut = (literal: string): AtOnce<PathSpellings> =>
    whenThere(real(literal), (target) => {
      linkedRoots ??= linkedAmong(roots, real);
      return whenThere(linkedRoots, (linked) => spellAs(literal, target, linked));
    });
  const spellAs = (literal: string, target: string, linked: LinkedRoots): AtOnce<PathSpellings> => {
    // Its own directory means another one to every process.
    const own = /^\/proc\/[^/]+\/(?:task\/[^/]+\/)?cwd(\/.*)?$/s.exec(literal);
    const kind = looks.kinds.get(target);
    if (linked.length === 0 && own === null) {
      const names = literal === target ? [target] : [literal, target];
      const path = { literal, real: target, resolved: [target] };
      const standsFor = namesInCheckout(names, { trees, real });
      return whenThere(standsFor, (there) => spelled(path, kind, there));
    }
    const resolved = [target];
    if (own !== null)
      resolved.push(...place.roots.map((root) => resolve(root, `.${own[1] ?? ''}`)));
    for (const [root, realRoot] of linked) {
      if (isWithin(target, realRoot)) {
        resolved.push(resolve(root, `.${target.slice(realRoot.length)}`));
      }
    }
    const standsFor = namesInCheckout([literal, ...resolved], { trees, real });
    return whenThere(standsFor, (there) =>
      spelled({ literal, real: target, resolved }, kind, there),
    );
  };

  const spellFrom = async (directory: string, path: string): Promise<readonly PathSpellings[]> => {
    const named = await spellNormal(resolve(directory, path));
    if (!path.includes('..')) return [named];
    let at = path.startsWith('/') ? '/' : directory;
    for (const segment of path.split('/')) {
      at = segment === '..' ? resolve(await real(at), '..') : resolve(at, segment);
    }
    return [named, await spell(at)];
  };

  const inside = async ({ literal, real: target }: PathSpellings): Promise<boolean> => {
    for (const root of place.roots) {
      const realRoot = await real(root);
      const named = isWithin(literal, root) || isWithin(literal, realRoot);
      if (named) {
        for (const other of place.roots) {
          if (isWithin(target, await real(other))) return true;
        }
      }
    }
    return false;
  };

  return {
    spell,
    spellFrom,
    inside,
    manyNamed({ real: target }) {
      if (looks.missing.has(target) || looks.kinds.has(target)) return looks.manyNamed.get(target);
      return manyNamedAt(fs, target);
    },
    expand: (directory, pattern) => filesFitting(fs, directory, pattern),
    disk: fs,
    trees,
    repositoryTrap(directory) {
      const found = traps.get(directory) ?? repositoryTrap(fs, directory);
      traps.set(directory, found);
      return found;
    },
  };
}

/** A root, and where it leads. */
type LinkedRoots = readonly (readonly [string, string])[];

function linkedAmong(
  roots: readonly string[],
  real: (path: string) => AtOnce<string>,
): AtOnce<LinkedRoots> {
  const pairs: (readonly [string, string])[] = [];
  for (const root of roots) {
    const realRoot = real(root);
    // Each is looked up once in a process, so that mostly all are known.
    if (isLater(realRoot)) return linkedLater(roots, real);
    if (realRoot !== root) pairs.push([root, realRoot]);
  }
  return pairs;
}

async function linkedLater(
  roots: readonly string[],
  real: (path: string) => AtOnce<string>,
): Promise<LinkedRoots> {
  const pairs: (readonly [string, string])[] = [];
  for (const root of roots) {
    const realRoot = await real(root);
    if (realRoot !== root) pairs.push([root, realRoot]);
  }
  return pairs;
}

function spelled(
  path: PathSpellings,
  kind: FileStat['kind'] | undefined,
  standsFor: readonly string[] | undefined,
): PathSpellings {
  const { literal, real, resolved } = path;
  const seen = kind === undefined ? path : { literal, real, resolved, kind };
  return standsFor === undefined ? seen : { ...seen, standsFor };
}

interface Checkouts {
  readonly trees: WorkingTrees;
  real(path: string): AtOnce<string>;
}

/** Rules are anchored at whatever the session calls its checkout, so links to it count too. */
function namesInCheckout(
  paths: readonly string[],
  at: Checkouts,
): AtOnce<readonly string[] | undefined> {
  const names: string[] = [];
  for (const path of paths) names.push(...at.trees.standsFor(path));
  return names.length === 0 ? undefined : throughLinks(names, at);
}

async function throughLinks(
  names: readonly string[],
  { trees, real }: Checkouts,
): Promise<readonly string[]> {
  const found = new Set(names);
  for (const root of trees.checkouts()) {
    const realRoot = await real(root);
    for (const name of names) {
      if (isWithin(name, realRoot)) found.add(resolve(root, `.${name.slice(realRoot.length)}`));
      if (isWithin(name, root)) found.add(resolve(realRoot, `.${name.slice(root.length)}`));
    }
  }
  return [...found];
}

/** What was seen on the way, by the real paths. */
interface Looks {
  readonly missing: Set<string>;
  readonly kinds: Map<string, FileStat['kind']>;
  readonly manyNamed: Map<string, FileStat>;
}

async function manyNamedAt(fs: PathFileSystem, path: string): Promise<FileStat | undefined> {
  // What cannot be looked at is no file that a call could touch.
  const stat = await fs.lstat(path).catch(() => undefined);
  return stat?.links === undefined ? undefined : stat;
}

const pins = new WeakMap<PathFileSystem, Map<string, AtOnce<string>>>();

/**
 * Where the working directories and the home really are, as found the first time. A root that is
 * replaced by a link later does not take the workspace with it.
 */
function pinnedRoots(fs: PathFileSystem): Map<string, AtOnce<string>> {
  const before = pins.get(fs);
  if (before !== undefined) return before;
  const found = new Map<string, AtOnce<string>>();
  pins.set(fs, found);
  return found;
}

/**
 * The real path of something in a directory whose own is known. Most words of a command are no
 * files at all, and asking the system for the real path of those is slow.
 */
function realBelow(
  fs: PathFileSystem,
  path: string,
  { above, looks }: { above: AtOnce<string>; looks: Looks },
): AtOnce<string> {
  // Windows has short names (`PROGRA~1`), which only the system can spell out.
  if (separator === '\\' && path.includes('~')) return realOrTooLong(fs, path);
  return whenThere(above, (parent) => {
    const here = parent === dirname(path) ? path : resolve(parent, basename(path));
    if (looks.missing.has(parent)) {
      looks.missing.add(here);
      return here;
    }
    const noted = (stat: FileStat | undefined): AtOnce<string> => {
      if (stat?.kind === 'symlink') return fs.realPath(path);
      noteLook(looks, here, stat);
      return here;
    };
    // The slower way says what is wrong.
    const failed = (): Promise<string> => realOrTooLong(fs, path);
    if (fs.lstatNow === undefined) return fs.lstat(path).then(noted, failed);
    let stat: FileStat | undefined;
    try {
      stat = fs.lstatNow(path);
    } catch {
      return failed();
    }
    return noted(stat);
  });
}

function noteLook(looks: Looks, here: string, stat: FileStat | undefined): void {
  if (stat === undefined) looks.missing.add(here);
  else looks.kinds.set(here, stat.kind);
  if (stat?.links !== undefined) looks.manyNamed.set(here, stat);
}

/** A name too long to exist leads nowhere else; long texts among a command's words are taken for paths. */
async function realOrTooLong(fs: PathFileSystem, path: string): Promise<string> {
  try {
    return await fs.realPath(path);
  } catch (thrown) {
    if (systemCodeOf(thrown) === 'ENAMETOOLONG') return path;
    throw thrown;
  }
}

/** As `isInside`, at once where the spelling already tells. */
function isWithin(path: string, directory: string): boolean {
  return path === directory || path.startsWith(`${directory}/`) || isInside(path, directory);
}
