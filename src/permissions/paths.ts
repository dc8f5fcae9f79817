import type { FileSystem } from '../env/fs.js';
import { isInside, resolve } from '../env/paths.js';
import { systemCodeOf } from '../errors.js';
import { matches, segmentTokens } from './wildcard.js';

/** One place on disk under all the names that rules may know it by. */
export interface PathSpellings {
  /** As named, absolute and normalised. */
  readonly literal: string;
  /** With symbolic links followed. */
  readonly real: string;
  /** `real`, and the same place spelled through each root that is itself reached by a link. */
  readonly resolved: readonly string[];
}

export interface PathJudge {
  spell(path: string): Promise<PathSpellings>;
  /** As `spell`, for a path as a shell word has it: `..` is taken after links are followed. */
  spellFrom(directory: string, path: string): Promise<readonly PathSpellings[]>;
  /** The files a shell pattern stands for now; undefined when that is not a simple look into one directory. */
  expand(directory: string, pattern: string): Promise<readonly string[] | undefined>;
  /** Whether both the name and what it leads to lie in one of the working directories. */
  inside(path: PathSpellings): Promise<boolean>;
}

export type PathFileSystem = Pick<FileSystem, 'realPath' | 'list'>;

/** Looks at the disk once per path; made new for every call that is judged. */
export function createPathJudge(
  fs: PathFileSystem,
  place: { readonly roots: readonly string[]; readonly home: string },
): PathJudge {
  const known = new Map<string, Promise<string>>();
  const real = (path: string): Promise<string> => {
    const found = known.get(path) ?? realOrTooLong(fs, path);
    known.set(path, found);
    return found;
  };
  const roots = [...place.roots, place.home];

  const spell = async (path: string): Promise<PathSpellings> => {
    const literal = resolve(path);
    const target = await real(literal);
    const resolved = [target];
    for (const root of roots) {
      const realRoot = await real(root);
      if (realRoot !== root && isInside(target, realRoot)) {
        resolved.push(resolve(root, `.${target.slice(realRoot.length)}`));
      }
    }
    return { literal, real: target, resolved };
  };

  const spellFrom = async (directory: string, path: string): Promise<readonly PathSpellings[]> => {
    const spelled = [await spell(resolve(directory, path))];
    if (!/(^|\/)\.\.(\/|$)/.test(path)) return spelled;
    let at = path.startsWith('/') ? '/' : directory;
    for (const segment of path.split('/')) {
      at = segment === '..' ? resolve(await real(at), '..') : resolve(at, segment);
    }
    return [...spelled, await spell(at)];
  };

  const inside = async ({ literal, real: target }: PathSpellings): Promise<boolean> => {
    for (const root of place.roots) {
      const realRoot = await real(root);
      const named = isInside(literal, root) || isInside(literal, realRoot);
      if (named) {
        for (const other of place.roots) {
          if (isInside(target, await real(other))) return true;
        }
      }
    }
    return false;
  };

  return {
    spell,
    spellFrom,
    inside,
    expand: (directory, pattern) => expand(fs, directory, pattern),
  };
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

const MOST_FILES = 500;

async function expand(
  fs: PathFileSystem,
  directory: string,
  pattern: string,
): Promise<readonly string[] | undefined> {
  const cut = pattern.lastIndexOf('/');
  const parent = pattern.slice(0, cut + 1).replace(/\\(.)/gs, '$1');
  if (/(^|[^\\])[*?[]/.test(pattern.slice(0, cut + 1)) || parent.includes('..')) return undefined;
  const name = pattern.slice(cut + 1);
  const tokens = segmentTokens(name);
  try {
    const entries = await fs.list(resolve(directory, parent === '' ? '.' : parent));
    const fitting = entries.filter(
      (entry) =>
        matches(tokens, entry.name) && (name.startsWith('.') || !entry.name.startsWith('.')),
    );
    return fitting.length > MOST_FILES
      ? undefined
      : fitting.map((entry) => resolve(directory, parent, entry.name));
  } catch {
    // fail-closed: what cannot be listed is not known.
    return undefined;
  }
}
