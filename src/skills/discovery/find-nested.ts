import { messageOf, PortcullisError } from '../../errors.js';
import { createGit, type GitDeps } from '../../permissions/git/hardened.js';
import {
  dirname,
  findRepositoryRoot,
  isInside,
  join,
  relative,
  resolve,
  toPosix,
} from '../../platform/fs/paths.js';
import { projectLevels } from '../../platform/fs/project-levels.js';
import type { SkippedSkill } from '../skill.js';
import { ALL } from './find.js';
import { type SkillPlaces, type SkillRoot, skillsRoot } from './roots.js';

export interface NestedDeps extends SkillPlaces {
  /** Whether git ignores a path. */
  isIgnored(path: string): Promise<boolean>;
}

/** Skills of sub-directories, which count once a file below is touched. */
export interface NestedFinder {
  /** The roots that these paths bring in; each comes once. */
  touched(paths: readonly string[]): Promise<readonly SkillRoot[]>;
  skipped(): readonly SkippedSkill[];
  /** Looks again where nothing was. */
  forget(): void;
}

/** Code of others lies here. */
const FOREIGN: ReadonlySet<string> = new Set(['node_modules', 'vendor']);

export function openNestedFinder(deps: NestedDeps): NestedFinder {
  const looked = new Set<string>();
  const given = new Set<string>();
  let skipped: SkippedSkill[] = [];

  async function look(directory: string, top: string): Promise<SkillRoot | undefined> {
    const claude = join(directory, '.claude');
    const root = skillsRoot(claude, directory);
    const skip = (reason: string): undefined => {
      skipped.push({ name: ALL, file: root.directory, reason });
    };
    try {
      if ((await deps.fs.stat(root.directory))?.kind !== 'directory') return undefined;
      const way = toPosix(relative(top, directory));
      const foreign = way.split('/').find(isForeign);
      // fail-closed: a dependency must not bring instructions along.
      if (foreign !== undefined) return skip(`it lies in ${foreign}`);
      if (await deps.isIgnored(root.directory)) return skip('git ignores it');
      const real = await deps.fs.realPath(directory);
      if (!isInside(real, await deps.fs.realPath(top))) return skip(`it leads to ${real}`);
      return { ...root, origin: 'nested', prefix: way };
    } catch (thrown) {
      // fail-closed: whether it is the project's own cannot be told.
      return skip(`it cannot be looked at: ${messageOf(thrown)}`);
    }
  }

  /** The directories on the way to these paths in which nobody has looked. */
  function unknownTowards(paths: readonly string[]): ReadonlyMap<string, string> {
    if (!deps.sources.includes('project')) return new Map();
    const levels = projectLevels(deps.cwd);
    const outermost = levels.at(-1) ?? deps.cwd;
    const unknown = new Map<string, string>();
    for (const path of paths) {
      const file = resolve(deps.cwd, path);
      const top = isInside(file, outermost)
        ? outermost
        : deps.additionalDirectories().find((one) => isInside(file, one));
      if (top === undefined) continue;
      for (let at = dirname(file); at !== top && isInside(at, top); at = dirname(at)) {
        // What is above is the start directory's own, and known.
        if (levels.includes(at)) break;
        if (!looked.has(at) && !given.has(at) && !unknown.has(at)) unknown.set(at, top);
      }
    }
    return unknown;
  }

  return {
    async touched(paths) {
      const roots: SkillRoot[] = [];
      for (const [at, top] of unknownTowards(paths)) {
        looked.add(at);
        const root = await look(at, top);
        if (root === undefined) continue;
        given.add(at);
        roots.push(root);
      }
      return roots;
    },
    skipped: () => skipped,
    forget() {
      looked.clear();
      skipped = [];
    },
  };
}

function isForeign(name: string): boolean {
  return FOREIGN.has(name.toLowerCase()) || name.startsWith('.');
}

const LONGEST_MS = 5_000;

/**
 * Whether git ignores a path. Outside of a repository nothing is ignored. Throws when git cannot say,
 * which for the caller must mean that the path is not used.
 */
export function gitIgnored(deps: GitDeps): (path: string) => Promise<boolean> {
  const git = createGit(deps);
  return async (path) => {
    const cwd = dirname(dirname(path));
    if (findRepositoryRoot(cwd) === undefined) return false;
    // The answer is the path itself, or nothing with the exit code 1.
    const said = await git(['check-ignore', '--no-index', '--', path], {
      cwd,
      answers: [1],
      timeoutMs: LONGEST_MS,
    });
    if (said.ok) return said.value !== '';
    // fail-closed: a dependency's directory looks like every other.
    throw new PortcullisError('process', `git did not say whether it ignores ${path}`, {
      remedy: said.error,
    });
  };
}
