import type { FileStat, FileSystem } from '../env/fs.js';
import { basename, dirname, isInside, resolve, separator } from '../env/paths.js';
import { systemCodeOf } from '../errors.js';
import type { PathSpellings } from '../tools/tool.js';
import { type AtOnce, isLater } from '../util/at-once.js';
import { Budget } from './budget.js';
import { filesFitting } from './file-patterns.js';
import { throughProcess } from './process-paths.js';
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
  /** What the judgement may still take. */
  readonly budget: Budget;
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
  readonly budget?: Budget | undefined;
}

/** Looks at the disk once per path; made new for every call that is judged. */
export function createPathJudge(fs: PathFileSystem, place: JudgedPlace): PathJudge {
  return new DiskJudge(fs, place);
}

/** Made for every call, and mostly asked for one path: all that is not wanted by each is made when it is. */
class DiskJudge implements PathJudge {
  readonly disk: PathFileSystem;
  readonly budget: Budget;
  readonly roots: readonly string[];
  readonly home: string;
  readonly trees: WorkingTrees;
  readonly pinned: Map<string, AtOnce<string>>;
  /** Where paths lead that lead elsewhere or have to be waited for. */
  readonly known: Map<string, AtOnce<string>>;
  readonly spellings: Map<string, AtOnce<PathSpellings>>;
  readonly looks: Looks;
  /** Roots that are reached by a link; most are not. */
  linkedRoots: AtOnce<LinkedRoots> | undefined;
  traps: Map<string, Promise<string | undefined>> | undefined;

  constructor(fs: PathFileSystem, place: JudgedPlace) {
    this.disk = fs;
    this.budget = place.budget ?? new Budget();
    this.roots = place.roots;
    this.home = place.home;
    this.trees = place.trees ?? TREES_BY_PLACE;
    this.pinned = pinnedRoots(fs);
    this.known = new Map();
    this.spellings = new Map();
    this.looks = new Map();
    this.linkedRoots = undefined;
    this.traps = undefined;
  }

  spell(path: string): AtOnce<PathSpellings> {
    const literal = resolve(path);
    const before = this.spellings.get(literal);
    if (before !== undefined) return before;
    this.budget.spend(1 + (literal.length >> 4));
    const found = this.spellOut(literal);
    this.spellings.set(literal, found);
    return found;
  }

  async spellFrom(directory: string, path: string): Promise<readonly PathSpellings[]> {
    this.budget.spend(1 + (path.length >> 4));
    const named = await this.spell(resolve(directory, path));
    // fail-closed: what it leads to here is not what it leads to in the command.
    if (throughProcess([directory], path)) return [{ ...named, perProcess: true }];
    if (!path.includes('..')) return [named];
    let at = path.startsWith('/') ? '/' : directory;
    for (const segment of path.split('/')) {
      at = segment === '..' ? resolve(await this.real(at), '..') : resolve(at, segment);
    }
    return [named, await this.spell(at)];
  }

  async inside({ literal, real: target, perProcess }: PathSpellings): Promise<boolean> {
    const { roots } = this;
    if (perProcess === true) return false;
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

  async expand(directory: string, pattern: string): Promise<readonly string[] | undefined> {
    // fail-closed: the same for the files that patterns stand for.
    if (/^\/(proc|dev)(\/|$)/.test(resolve(directory, pattern))) return undefined;
    return filesFitting(this.disk, { directory, pattern, budget: this.budget });
  }

  repositoryTrap(directory: string): Promise<string | undefined> {
    this.traps ??= new Map();
    const found = this.traps.get(directory) ?? repositoryTrap(this.disk, directory);
    this.traps.set(directory, found);
    return found;
  }

  real(path: string): AtOnce<string> {
    const before = this.pinned.get(path) ?? this.known.get(path);
    if (before !== undefined) return before;
    // What was seen was noted by its real path.
    if (this.looks.has(path)) return path;
    const found = this.look(path);
    if (found !== path) this.known.set(path, found);
    return found;
  }

  look(path: string): AtOnce<string> {
    const { roots, home } = this;
    if (path === home || roots.includes(path)) return this.pin(path);
    const isBelow = path.length <= LONGEST_WAY && beginsWithOne(path, roots);
    return isBelow ? this.realBelow(path) : realOrTooLong(this.disk, path);
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
    return typeof parent === 'string'
      ? this.realIn(parent, path, above)
      : this.realInLater(parent, path, above);
  }

  async realInLater(parent: Promise<string>, path: string, above: string): Promise<string> {
    return await this.realIn(await parent, path, above);
  }

  realIn(parent: string, path: string, above: string): AtOnce<string> {
    const { disk, looks } = this;
    const here = parent === above ? path : resolve(parent, basename(path));
    if (looks.get(parent) === MISSING) return this.noted(here, undefined);
    if (disk.lstatNow === undefined) return this.lookLater(here, path);
    let stat: FileStat | undefined;
    try {
      stat = disk.lstatNow(path);
    } catch {
      // The slower way says what is wrong.
      return realOrTooLong(disk, path);
    }
    return this.seen(stat, here, path);
  }

  lookLater(here: string, path: string): Promise<string> {
    const { disk } = this;
    return disk.lstat(path).then(
      (stat) => this.seen(stat, here, path),
      () => realOrTooLong(disk, path),
    );
  }

  seen(stat: FileStat | undefined, here: string, path: string): AtOnce<string> {
    if (stat?.kind === 'symlink') return this.disk.realPath(path);
    // fail-closed: behind a link to nothing everything is missing, and may be there under its own name.
    if (stat === undefined && here !== path) return this.realIn(dirname(here), here, dirname(here));
    return this.noted(here, stat);
  }

  noted(here: string, stat: FileStat | undefined): string {
    // What was there under another name a moment ago is not forgotten.
    if (stat !== undefined || !this.looks.has(here)) this.looks.set(here, stat ?? MISSING);
    return here;
  }

  // What may have to be waited for is done elsewhere: a function that holds another costs more by itself.
  spellOut(literal: string): AtOnce<PathSpellings> {
    const target = this.real(literal);
    if (typeof target !== 'string') return this.spellLater(literal, target);
    const linked = this.linked();
    if (isLater(linked)) return this.spellLater(literal, target);
    return this.spellAs(literal, target, linked);
  }

  async spellLater(literal: string, target: AtOnce<string>): Promise<PathSpellings> {
    const there = await target;
    return await this.spellAs(literal, there, await this.linked());
  }

  linked(): AtOnce<LinkedRoots> {
    this.linkedRoots ??= linkedAmong(this);
    return this.linkedRoots;
  }

  spellAs(literal: string, target: string, linked: LinkedRoots): AtOnce<PathSpellings> {
    const resolved = [target];
    // Its own directory means another one to every process.
    const own = OWN_DIRECTORY.exec(literal);
    if (own !== null) resolved.push(...inEach(this.roots, own[1] ?? ''));
    for (let at = 0; at < linked.length; at++) {
      const [root, realRoot] = linked[at] as LinkedRoots[number];
      if (isWithin(target, realRoot)) {
        resolved.push(resolve(root, `.${target.slice(realRoot.length)}`));
      }
    }
    const seen = this.looks.get(target);
    const path =
      seen === undefined || seen === MISSING
        ? { literal, real: target, resolved }
        : { literal, real: target, resolved, kind: seen.kind };
    const copied = namesInCheckout(path, this.trees);
    return copied.length === 0 ? path : this.withCheckout(path, copied);
  }

  async withCheckout(path: PathSpellings, copied: readonly string[]): Promise<PathSpellings> {
    return { ...path, standsFor: await throughLinks(copied, this) };
  }
}

/** Longer than systems take: step by step it would be followed for long. */
const LONGEST_WAY = 4096;

function inEach(roots: readonly string[], way: string): readonly string[] {
  return roots.map((root) => resolve(root, `.${way}`));
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

const NO_LINKS: LinkedRoots = [];

function linkedAmong(judge: DiskJudge): AtOnce<LinkedRoots> {
  const { roots, home } = judge;
  let linked = NO_LINKS;
  for (let at = 0; at <= roots.length; at++) {
    const root = at === roots.length ? home : (roots[at] as string);
    const realRoot = judge.real(root);
    // Each is looked up once in a process, so that mostly all are known.
    if (typeof realRoot !== 'string') return linkedLater([...roots, home], judge);
    if (realRoot !== root) linked = [...linked, [root, realRoot]];
  }
  return linked;
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
  let names = trees.standsFor(literal);
  for (let at = 0; at < resolved.length; at++) {
    const path = resolved[at] as string;
    // Mostly it is its own name.
    if (path !== literal) names = [...names, ...trees.standsFor(path)];
  }
  return names;
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
  // Looked up from its end on, each of its many directories would cost a look.
  if (path.length > LONGEST_WAY && (await isTooLong(fs, path))) return path;
  try {
    return await fs.realPath(path);
  } catch (thrown) {
    if (systemCodeOf(thrown) === 'ENAMETOOLONG' && (await isTooLong(fs, path))) return path;
    throw thrown;
  }
}

/** fail-closed: a short name may lead to a place whose own is too long to be told. */
async function isTooLong(fs: PathFileSystem, path: string): Promise<boolean> {
  try {
    await fs.lstat(path);
    return false;
  } catch (thrown) {
    return systemCodeOf(thrown) === 'ENAMETOOLONG';
  }
}

/** As `isInside`, at once where the spelling already tells. */
function isWithin(path: string, directory: string): boolean {
  return path === directory || path.startsWith(`${directory}/`) || isInside(path, directory);
}
