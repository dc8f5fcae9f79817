import { systemCodeOf } from '../../errors.js';
import type { FileStat, FileSystem } from '../../platform/fs/fs.js';
import { isInside, resolve, toPosix } from '../../platform/fs/paths.js';
import type { PathSpellings, TouchedPath } from '../../tools/tool.js';
import { Budget } from '../gate/budget.js';
import { repositoryTrap } from '../git/config.js';
import { filesFitting } from './file-patterns.js';
import { TREES_BY_PLACE, type WorkingTrees } from './working-trees.js';

export type { PathSpellings } from '../../tools/tool.js';

export interface PathJudge {
  spell(path: string): Promise<PathSpellings>;
  /** As `spell`, for a path as a shell word has it: `..` is taken after links are followed. */
  spellFrom(directory: string, path: string): Promise<readonly PathSpellings[]>;
  /** The files a shell pattern stands for now; undefined when that is not a simple look into one directory. */
  expand(directory: string, pattern: string): Promise<readonly string[] | undefined>;
  /** The file that the path leads to, where it is a regular one with several names. */
  manyNamed(path: PathSpellings): Promise<FileStat | undefined>;
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
  'realPath' | 'list' | 'lstat' | 'readText' | 'readBytes'
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

/** What the system is asked about a path takes as long as so many steps of our own. */
export const STEPS_OF_LOOK = 150;
/** A path that was looked at before is still compared with the working directories and the rules. */
const STEPS_OF_PATH = 10;

class DiskJudge implements PathJudge {
  readonly disk: PathFileSystem;
  readonly budget: Budget;
  readonly trees: WorkingTrees;
  readonly #roots: readonly string[];
  readonly #home: string;
  readonly #pinned: Map<string, Promise<string>>;
  readonly #known = new Map<string, Promise<string>>();
  readonly #spellings = new Map<string, Promise<PathSpellings>>();
  readonly #stats = new Map<string, Promise<FileStat | undefined>>();
  readonly #traps = new Map<string, Promise<string | undefined>>();
  #linkedRoots: Promise<LinkedRoots> | undefined;

  constructor(fs: PathFileSystem, place: JudgedPlace) {
    this.disk = fs;
    this.budget = place.budget ?? new Budget();
    this.trees = place.trees ?? TREES_BY_PLACE;
    this.#roots = place.roots;
    this.#home = place.home;
    this.#pinned = pinnedRoots(fs);
  }

  async spell(path: string): Promise<PathSpellings> {
    const literal = resolve(path);
    let found = this.#spellings.get(literal);
    if (found === undefined) {
      this.budget.spend(STEPS_OF_LOOK + (literal.length >> 4));
      found = this.#spellOut(literal);
      this.#spellings.set(literal, found);
    }
    return await found;
  }

  async spellFrom(directory: string, path: string): Promise<readonly PathSpellings[]> {
    this.budget.spend(STEPS_OF_PATH + (path.length >> 4));
    const named = await this.spell(resolve(directory, path));
    // fail-closed: what it leads to here is not what it leads to in the command.
    if (throughProcess([directory], path)) return [{ ...named, perProcess: true }];
    if (!path.includes('..')) return [named];
    let at = path.startsWith('/') ? '/' : directory;
    for (const segment of path.split('/')) {
      at = segment === '..' ? resolve(await this.#real(at), '..') : resolve(at, segment);
    }
    return [named, await this.spell(at)];
  }

  async inside({ literal, real: target, perProcess }: PathSpellings): Promise<boolean> {
    if (perProcess === true) return false;
    for (const root of this.#roots) {
      const realRoot = await this.#real(root);
      const named = isInside(literal, root) || isInside(literal, realRoot);
      if (named) {
        for (const other of this.#roots) {
          if (isInside(target, await this.#real(other))) return true;
        }
      }
    }
    return false;
  }

  async manyNamed({ real: target }: PathSpellings): Promise<FileStat | undefined> {
    // What cannot be looked at is no file that a call could touch.
    const seen = await this.#stat(target);
    return seen?.links === undefined ? undefined : seen;
  }

  async expand(directory: string, pattern: string): Promise<readonly string[] | undefined> {
    // fail-closed: the same for the files that patterns stand for.
    if (/^\/(proc|dev)(\/|$)/.test(resolve(directory, pattern))) return undefined;
    return filesFitting(this.disk, { directory, pattern, budget: this.budget });
  }

  async repositoryTrap(directory: string): Promise<string | undefined> {
    const found = this.#traps.get(directory) ?? repositoryTrap(this.disk, directory);
    this.#traps.set(directory, found);
    return await found;
  }

  async #real(path: string): Promise<string> {
    const before = this.#pinned.get(path) ?? this.#known.get(path);
    if (before !== undefined) return await before;
    const found = realOrTooLong(this.disk, path);
    if (path === this.#home || this.#roots.includes(path)) {
      this.#pinned.set(path, found);
      found.catch(() => this.#pinned.delete(path));
    } else this.#known.set(path, found);
    return await found;
  }

  /** Undefined where nothing is there, or nothing can be seen. */
  async #stat(target: string): Promise<FileStat | undefined> {
    const found = this.#stats.get(target) ?? this.disk.lstat(target).catch(() => undefined);
    this.#stats.set(target, found);
    return await found;
  }

  async #spellOut(literal: string): Promise<PathSpellings> {
    const target = await this.#real(literal);
    const resolved = [target];
    // Its own directory means another one to every process.
    const own = OWN_DIRECTORY.exec(literal);
    if (own !== null) resolved.push(...inEach(this.#roots, own[1] ?? ''));
    this.#linkedRoots ??= this.#findLinkedRoots();
    for (const [root, realRoot] of await this.#linkedRoots) {
      if (isInside(target, realRoot)) {
        resolved.push(resolve(root, `.${target.slice(realRoot.length)}`));
      }
    }
    const kind = (await this.#stat(target))?.kind;
    const path = { literal, real: target, resolved, kind };
    const copied = [...new Set([literal, ...resolved])].flatMap((one) => this.trees.standsFor(one));
    return copied.length === 0 ? path : { ...path, standsFor: await this.#throughLinks(copied) };
  }

  async #findLinkedRoots(): Promise<LinkedRoots> {
    const pairs: (readonly [string, string])[] = [];
    for (const root of [...this.#roots, this.#home]) {
      const realRoot = await this.#real(root);
      if (realRoot !== root) pairs.push([root, realRoot]);
    }
    return pairs;
  }

  /** Rules are anchored at whatever the session calls its checkout, so links to it count too. */
  async #throughLinks(names: readonly string[]): Promise<readonly string[]> {
    const found = new Set(names);
    for (const root of this.trees.checkouts()) {
      const realRoot = await this.#real(root);
      for (const name of names) {
        if (isInside(name, realRoot)) found.add(resolve(root, `.${name.slice(realRoot.length)}`));
        if (isInside(name, root)) found.add(resolve(realRoot, `.${name.slice(root.length)}`));
      }
    }
    return [...found];
  }
}

/** A file that a call touches, and that has other names besides the one it is called by. */
export interface ManyNamed extends TouchedPath {
  readonly file: FileStat;
}

/** The files among these that have several names (hard links). Few do, and nothing is looked for on behalf of the others. */
export async function manyNamedAmong(
  touched: readonly TouchedPath[],
  judge: PathJudge,
): Promise<readonly ManyNamed[]> {
  const found: ManyNamed[] = [];
  for (const one of touched) {
    const file = await judge.manyNamed(one.spellings);
    if (file !== undefined) found.push({ ...one, file });
  }
  return found;
}

/** Longer than systems take: step by step it would be followed for long. */
const LONGEST_WAY = 4096;

function inEach(roots: readonly string[], way: string): readonly string[] {
  return roots.map((root) => resolve(root, `.${way}`));
}

const OWN_DIRECTORY = /^\/proc\/[^/]+\/(?:task\/[^/]+\/)?cwd(\/.*)?$/s;

/** A root, and where it leads. */
type LinkedRoots = readonly (readonly [string, string])[];

const pins = new WeakMap<PathFileSystem, Map<string, Promise<string>>>();

/**
 * Where the working directories and the home really are, as found the first time. A root that is
 * replaced by a link later does not take the workspace with it.
 */
function pinnedRoots(fs: PathFileSystem): Map<string, Promise<string>> {
  const before = pins.get(fs);
  if (before !== undefined) return before;
  const found = new Map<string, Promise<string>>();
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

const OF_PROCESS = /^proc\/[^/]+\/(task\/[^/]+\/)?(cwd|root|fd\/[^/]+)$|^dev\/fd\/[^/]+$/;
/** `proc/self/task/1/fd/3` */
const MOST_STEPS = 6;

/** Whether a path goes on behind a link that is another one for every process. */
export function throughProcess(from: readonly string[] | undefined, path: string): boolean {
  const parts = path.split('/');
  return (path.startsWith('/') ? ['/'] : (from ?? [])).some((directory) => {
    const steps = toPosix(directory).split('/').filter(Boolean);
    const isThrough = (index: number): boolean => {
      if (steps.length > MOST_STEPS || (steps[0] !== 'proc' && steps[0] !== 'dev')) return false;
      const isFile = steps.at(-2) === 'fd' && index === parts.length - 1;
      return OF_PROCESS.test(steps.join('/')) && !isFile;
    };
    if (isThrough(-1)) return true;
    return parts.some((part, index) => {
      if (part === '..') steps.pop();
      else if (part !== '' && part !== '.') steps.push(part);
      return isThrough(index);
    });
  });
}
