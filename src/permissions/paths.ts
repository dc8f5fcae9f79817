import type { FileStat, FileSystem } from '../env/fs.js';
import { basename, dirname, isInside, resolve, separator } from '../env/paths.js';
import { systemCodeOf } from '../errors.js';
import type { PathSpellings } from '../tools/tool.js';
import { type AtOnce, isLater } from '../util/at-once.js';
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

/** Where a call works, as far as paths are concerned. */
interface JudgedPlace {
  readonly roots: readonly string[];
  readonly home: string;
  readonly trees?: WorkingTrees | undefined;
}

/** Looks at the disk once per path; made new for every call that is judged. */
export function createPathJudge(fs: PathFileSystem, place: JudgedPlace): PathJudge {
  return new DiskJudge(fs, place);
}

/** Made for every call, and mostly asked for one path: all that is not wanted by each is made when it is. */
class DiskJudge implements PathJudge {
  readonly disk: PathFileSystem;
  readonly roots: readonly string[];
  readonly home: string;
  readonly trees: WorkingTrees;
  readonly pinned: Map<string, AtOnce<string>>;
  /** Where paths lead. */
  readonly known = new Map<string, AtOnce<string>>();
  readonly spellings = new Map<string, AtOnce<PathSpellings>>();
  readonly looks: Looks = new Map();
  /** Roots that are reached by a link; most are not. */
  linkedRoots: AtOnce<LinkedRoots> | undefined = undefined;
  traps: Map<string, Promise<string | undefined>> | undefined = undefined;

  constructor(fs: PathFileSystem, place: JudgedPlace) {
    this.disk = fs;
    this.roots = place.roots;
    this.home = place.home;
    this.trees = place.trees ?? TREES_BY_PLACE;
    this.pinned = pinnedRoots(fs);
  }

  spell(path: string): AtOnce<PathSpellings> {
    const literal = resolve(path);
    const before = this.spellings.get(literal);
    if (before !== undefined) return before;
    const found = this.spellOut(literal);
    this.spellings.set(literal, found);
    return found;
  }

  async spellFrom(directory: string, path: string): Promise<readonly PathSpellings[]> {
    const named = await this.spell(resolve(directory, path));
    if (!path.includes('..')) return [named];
    let at = path.startsWith('/') ? '/' : directory;
    for (const segment of path.split('/')) {
      at = segment === '..' ? resolve(await this.real(at), '..') : resolve(at, segment);
    }
    return [named, await this.spell(at)];
  }

  async inside({ literal, real: target }: PathSpellings): Promise<boolean> {
    const { roots } = this;
    for (const root of roots) {
      const realRoot = await this.real(root);
      const named = isWithin(literal, root) || isWithin(literal, realRoot);
      if (named) {
        for (const other of roots) {
          if (isWithin(target, await this.real(other))) return true;
        }
      }
    }
    return false;
  }

  manyNamed({ real: target }: PathSpellings): FileStat | undefined | Promise<FileStat | undefined> {
    const seen = this.looks.get(target);
    if (seen === undefined) return manyNamedAt(this.disk, target);
    return seen === MISSING || seen.links === undefined ? undefined : seen;
  }

  expand(directory: string, pattern: string): Promise<readonly string[] | undefined> {
    return filesFitting(this.disk, directory, pattern);
  }

  repositoryTrap(directory: string): Promise<string | undefined> {
    this.traps ??= new Map();
    const found = this.traps.get(directory) ?? repositoryTrap(this.disk, directory);
    this.traps.set(directory, found);
    return found;
  }

  real(path: string): AtOnce<string> {
    const before = this.known.get(path);
    if (before !== undefined) return before;
    const found = this.look(path);
    this.known.set(path, found);
    return found;
  }

  look(path: string): AtOnce<string> {
    const pin = this.pinned.get(path);
    if (pin !== undefined) return pin;
    const { roots, home } = this;
    if (path === home || roots.includes(path)) return this.pin(path);
    return beginsWithOne(path, roots) ? this.realBelow(path) : realOrTooLong(this.disk, path);
  }

  pin(root: string): Promise<string> {
    const { pinned } = this;
    const found = realOrTooLong(this.disk, root);
    pinned.set(root, found);
    found.then(
      (there) => pinned.set(root, there),
      () => pinned.delete(root),
    );
    return found;
  }

  /**
   * The real path of something in a directory whose own is known. Most words of a command are no
   * files at all, and asking the system for the real path of those is slow.
   */
  realBelow(path: string): AtOnce<string> {
    // Windows has short names (`PROGRA~1`), which only the system can spell out.
    if (separator === '\\' && path.includes('~')) return realOrTooLong(this.disk, path);
    const above = dirname(path);
    const parent = this.real(above);
    if (isLater(parent)) return parent.then((there) => this.realIn(there, path, above));
    return this.realIn(parent, path, above);
  }

  realIn(parent: string, path: string, above: string): AtOnce<string> {
    const { disk, looks } = this;
    const here = parent === above ? path : resolve(parent, basename(path));
    if (looks.get(parent) === MISSING) return this.noted(here, undefined);
    if (disk.lstatNow === undefined) return this.realInLater(here, path);
    let stat: FileStat | undefined;
    try {
      stat = disk.lstatNow(path);
    } catch {
      // The slower way says what is wrong.
      return realOrTooLong(disk, path);
    }
    return stat?.kind === 'symlink' ? disk.realPath(path) : this.noted(here, stat);
  }

  realInLater(here: string, path: string): Promise<string> {
    const { disk } = this;
    return disk.lstat(path).then(
      (stat) => (stat?.kind === 'symlink' ? disk.realPath(path) : this.noted(here, stat)),
      () => realOrTooLong(disk, path),
    );
  }

  noted(here: string, stat: FileStat | undefined): string {
    // What was there under another name a moment ago is not forgotten.
    if (stat !== undefined || !this.looks.has(here)) this.looks.set(here, stat ?? MISSING);
    return here;
  }

  spellOut(literal: string): AtOnce<PathSpellings> {
    const target = this.real(literal);
    if (isLater(target)) return target.then((there) => this.spellBehind(literal, there));
    return this.spellBehind(literal, target);
  }

  spellBehind(literal: string, target: string): AtOnce<PathSpellings> {
    this.linkedRoots ??= linkedAmong(this);
    const linked = this.linkedRoots;
    if (isLater(linked)) return linked.then((there) => this.spellAs(literal, target, there));
    return this.spellAs(literal, target, linked);
  }

  spellAs(literal: string, target: string, linked: LinkedRoots): AtOnce<PathSpellings> {
    const resolved = [target];
    // Its own directory means another one to every process.
    const own = OWN_DIRECTORY.exec(literal);
    if (own !== null) {
      resolved.push(...this.roots.map((root) => resolve(root, `.${own[1] ?? ''}`)));
    }
    for (let at = 0; at < linked.length; at++) {
      const [root, realRoot] = linked[at] as LinkedRoots[number];
      if (isWithin(target, realRoot)) {
        resolved.push(resolve(root, `.${target.slice(realRoot.length)}`));
      }
    }
    const seen = this.looks.get(target);
    const kind = seen === undefined || seen === MISSING ? undefined : seen.kind;
    const path =
      kind === undefined
        ? { literal, real: target, resolved }
        : { literal, real: target, resolved, kind };
    const standsFor = namesInCheckout(path, this.trees);
    if (standsFor.length === 0) return path;
    return throughLinks(standsFor, this).then((names) => ({ ...path, standsFor: names }));
  }
}

const OWN_DIRECTORY = /^\/proc\/[^/]+\/(?:task\/[^/]+\/)?cwd(\/.*)?$/s;

/** By the letters alone: whoever lies beside a root is looked at as what is in it. */
function beginsWithOne(path: string, roots: readonly string[]): boolean {
  for (let at = 0; at < roots.length; at++) if (path.startsWith(roots[at] as string)) return true;
  return false;
}

/** What was seen on the way, by the real paths. */
type Looks = Map<string, FileStat | typeof MISSING>;

const MISSING = 'missing';

/** A root, and where it leads. */
type LinkedRoots = readonly (readonly [string, string])[];

function linkedAmong(judge: DiskJudge): AtOnce<LinkedRoots> {
  const { roots, home } = judge;
  const pairs: (readonly [string, string])[] = [];
  for (let at = 0; at <= roots.length; at++) {
    const root = roots[at] ?? home;
    const realRoot = judge.real(root);
    // Each is looked up once in a process, so that mostly all are known.
    if (isLater(realRoot)) return linkedLater([...roots, home], judge);
    if (realRoot !== root) pairs.push([root, realRoot]);
  }
  return pairs;
}

async function linkedLater(roots: readonly string[], judge: DiskJudge): Promise<LinkedRoots> {
  const pairs: (readonly [string, string])[] = [];
  for (const root of roots) {
    const realRoot = await judge.real(root);
    if (realRoot !== root) pairs.push([root, realRoot]);
  }
  return pairs;
}

/** Rules are anchored at whatever the session calls its checkout, so links to it count too. */
function namesInCheckout(
  { literal, resolved }: PathSpellings,
  trees: WorkingTrees,
): readonly string[] {
  const names = trees.standsFor(literal);
  // Mostly it is its own name, and lies in no tree.
  if (resolved.length === 1 && resolved[0] === literal) return names;
  return [...names, ...resolved.flatMap((path) => trees.standsFor(path))];
}

async function throughLinks(
  names: readonly string[],
  judge: DiskJudge,
): Promise<readonly string[]> {
  const found = new Set(names);
  for (const root of judge.trees.checkouts()) {
    const realRoot = await judge.real(root);
    for (const name of names) {
      if (isWithin(name, realRoot)) found.add(resolve(root, `.${name.slice(realRoot.length)}`));
      if (isWithin(name, root)) found.add(resolve(realRoot, `.${name.slice(root.length)}`));
    }
  }
  return [...found];
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
