import { systemCodeOf } from '../../errors.js';
import type { FileStat } from '../../platform/fs/fs.js';
import { dirname, isInside, resolve, toPosix } from '../../platform/fs/paths.js';
import type { PathSpellings, TouchedPath } from '../../tools/tool.js';
import { Budget } from '../gate/budget.js';
import { repositoryTrap } from '../git/config.js';
import type { ProjectChoice } from '../shell/effects/facts.js';
import { countedDisk, type PathFileSystem } from './counted-disk.js';
import { filesFitting } from './file-patterns.js';
import { TREES_BY_PLACE, type WorkingTrees } from './working-trees.js';

export type { PathSpellings } from '../../tools/tool.js';
export type { PathFileSystem } from './counted-disk.js';

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
  /** The file by which a project makes a program start or download another one, there or above. */
  choosingFile(directory: string, by: ProjectChoice): Promise<string | undefined>;
  readonly trees: WorkingTrees;
  /** For those who have to look further. */
  readonly disk: PathFileSystem;
  /** What the judgement may still take. */
  readonly budget: Budget;
}

/** Where a call works, as far as paths are concerned. */
interface JudgedPlace {
  readonly roots: readonly string[];
  readonly home: string;
  readonly trees?: WorkingTrees | undefined;
  readonly budget?: Budget | undefined;
}

/** A path that was looked at before is still compared with the working directories and the rules. */
const STEPS_OF_PATH = 10;

/** Looks at the disk once per path; made new for every call that is judged. */
export function createPathJudge(files: PathFileSystem, place: JudgedPlace): PathJudge {
  const { roots, home, trees = TREES_BY_PLACE, budget = new Budget() } = place;
  const disk = countedDisk(files, budget);
  const real = realPaths(disk, [...roots, home], pinsOf(files));
  // Undefined where nothing is there, or nothing can be seen.
  const statOf = cached((target) => disk.lstat(target).catch(() => undefined));
  const spellOut = cached(async (literal): Promise<PathSpellings> => {
    const target = await real(literal);
    const resolved = [target];
    // Its own directory means another one to every process.
    const own = OWN_DIRECTORY.exec(literal);
    if (own !== null) resolved.push(...roots.map((root) => resolve(root, `.${own[1] ?? ''}`)));
    for (const root of [...roots, home]) {
      const realRoot = await real(root);
      if (realRoot !== root) resolved.push(...moved(target, realRoot, root));
    }
    const kind = (await statOf(target))?.kind;
    const path = { literal, real: target, resolved, kind };
    const copied = [...new Set([literal, ...resolved])].flatMap((one) => trees.standsFor(one));
    if (copied.length === 0) return path;
    // Rules are anchored at whatever the session calls its checkout, so links to it count too.
    const standsFor = new Set(copied);
    for (const root of trees.checkouts()) {
      const realRoot = await real(root);
      for (const name of copied) {
        for (const other of [...moved(name, realRoot, root), ...moved(name, root, realRoot)]) {
          standsFor.add(other);
        }
      }
    }
    return { ...path, standsFor: [...standsFor] };
  });
  const spell = (path: string): Promise<PathSpellings> => spellOut(resolve(path));
  return {
    disk,
    budget,
    trees,
    spell,
    async spellFrom(directory, path) {
      budget.spend(STEPS_OF_PATH + (path.length >> 4));
      const named = await spell(resolve(directory, path));
      // fail-closed: what it leads to here is not what it leads to in the command.
      if (throughProcess([directory], path)) return [{ ...named, perProcess: true }];
      if (!path.includes('..')) return [named];
      let at = path.startsWith('/') ? '/' : directory;
      for (const segment of path.split('/')) {
        at = segment === '..' ? resolve(await real(at), '..') : resolve(at, segment);
      }
      return [named, await spell(at)];
    },
    async inside({ literal, real: target, perProcess }) {
      if (perProcess === true) return false;
      const realRoots = await Promise.all(roots.map(real));
      const isNamed = [...roots, ...realRoots].some((root) => isInside(literal, root));
      return isNamed && realRoots.some((root) => isInside(target, root));
    },
    async manyNamed({ real: target }) {
      // What cannot be looked at is no file that a call could touch.
      const seen = await statOf(target);
      return seen?.links === undefined ? undefined : seen;
    },
    async expand(directory, pattern) {
      // fail-closed: the same for the files that patterns stand for.
      if (/^\/(proc|dev)(\/|$)/.test(resolve(directory, pattern))) return undefined;
      return await filesFitting(disk, { directory, pattern, budget });
    },
    repositoryTrap: cached((directory) => repositoryTrap(disk, directory)),
    async choosingFile(directory, { files, says }) {
      for (let at = await real(directory); ; at = dirname(at)) {
        for (const name of files) {
          const file = resolve(at, name);
          if ((await statOf(file)) === undefined) continue;
          if (says === undefined || (await saysSo(disk, file, says))) return file;
        }
        if (dirname(at) === at) return undefined;
      }
    },
  };
}

async function saysSo(disk: PathFileSystem, file: string, says: RegExp): Promise<boolean> {
  try {
    return says.test(await disk.readText(file, { maxBytes: LONGEST_CHOICE }));
  } catch {
    // fail-closed: what cannot be read may say anything.
    return true;
  }
}

const LONGEST_CHOICE = 1024 * 1024;

function cached<T>(make: (path: string) => Promise<T>): (path: string) => Promise<T> {
  const known = new Map<string, Promise<T>>();
  return (path) => {
    const found = known.get(path) ?? make(path);
    known.set(path, found);
    return found;
  };
}

/** The name of a path below one directory as one below another. */
export function moved(path: string, from: string, to: string): readonly string[] {
  return isInside(path, from) ? [resolve(to, `.${path.slice(from.length)}`)] : [];
}

const pins = new WeakMap<PathFileSystem, Map<string, Promise<string>>>();

function pinsOf(disk: PathFileSystem): Map<string, Promise<string>> {
  const pinned = pins.get(disk) ?? new Map<string, Promise<string>>();
  pins.set(disk, pinned);
  return pinned;
}

/**
 * Where paths really are. Of the working directories and the home that is found once and kept: a root that is
 * replaced by a link later does not take the workspace with it.
 */
function realPaths(
  disk: PathFileSystem,
  roots: readonly string[],
  pinned: Map<string, Promise<string>>,
): (path: string) => Promise<string> {
  const others = cached((path) => realOrTooLong(disk, path));
  return (path) => {
    const before = pinned.get(path);
    if (before !== undefined || !roots.includes(path)) return before ?? others(path);
    const found = realOrTooLong(disk, path);
    pinned.set(path, found);
    found.catch(() => pinned.delete(path));
    return found;
  };
}

const OWN_DIRECTORY = /^\/proc\/[^/]+\/(?:task\/[^/]+\/)?cwd(\/.*)?$/s;

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
  for (let at = 0; at < queue.length; at++) {
    const directory = queue[at] ?? '';
    if (seen.has(directory)) continue;
    seen.add(directory);
    if ((await judge.disk.lstat(directory))?.kind !== 'directory') continue;
    for (const { name, kind } of await judge.disk.list(directory)) {
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
