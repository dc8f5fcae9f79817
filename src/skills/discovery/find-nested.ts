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

/** Finds skills of subdirectories, which apply once a file below is touched. */
export class NestedFinder {
  skipped: readonly SkippedSkill[] = [];
  readonly #deps: NestedDeps;
  readonly #looked = new Set<string>();
  readonly #found = new Set<string>();

  constructor(deps: NestedDeps) {
    this.#deps = deps;
  }

  /** The skill roots that these paths add; each is returned once. */
  async touched(paths: readonly string[]): Promise<readonly SkillRoot[]> {
    const roots: SkillRoot[] = [];
    for (const [directory, top] of this.#unknownTowards(paths)) {
      this.#looked.add(directory);
      const found = skillsRoot(join(directory, '.claude'), directory);
      const prefix = toPosix(relative(top, directory));
      if (!(await this.#mayLook(found, prefix, top))) continue;
      this.#found.add(directory);
      roots.push({ ...found, origin: 'nested', prefix });
    }
    return roots;
  }

  /** Checks directories again that had none. */
  forget(): void {
    this.#looked.clear();
    this.skipped = [];
  }

  async #mayLook({ directory, level }: SkillRoot, way: string, top: string): Promise<boolean> {
    const { fs, isIgnored } = this.#deps;
    const skip = (reason: string): false => {
      this.skipped = [...this.skipped, { name: ALL, file: directory, reason }];
      return false;
    };
    try {
      if ((await fs.stat(directory))?.kind !== 'directory') return false;
      const foreign = way.split('/').find((name) => FOREIGN.test(name));
      // fail-closed: a dependency must not bring instructions along.
      if (foreign !== undefined) return skip(`it lies in ${foreign}`);
      if (await isIgnored(directory)) return skip('git ignores it');
      const real = await fs.realPath(level ?? directory);
      return isInside(real, await fs.realPath(top)) || skip(`it leads to ${real}`);
    } catch (thrown) {
      // fail-closed: it is unknown whether the directory belongs to the project.
      return skip(`it cannot be looked at: ${messageOf(thrown)}`);
    }
  }

  /** The unchecked directories on the way to these paths, each with the working directory above it. */
  #unknownTowards(paths: readonly string[]): ReadonlyMap<string, string> {
    const { cwd, sources, additionalDirectories } = this.#deps;
    const unknown = new Map<string, string>();
    if (!sources.includes('project')) return unknown;
    const levels = projectLevels(cwd);
    const outermost = levels.at(-1) ?? cwd;
    for (const path of paths) {
      const file = resolve(cwd, path);
      const top = [outermost, ...additionalDirectories()].find((one) => isInside(file, one));
      if (top === undefined) continue;
      for (let at = dirname(file); at !== top && isInside(at, top); at = dirname(at)) {
        // Higher directories belong to the start directory and are known.
        if (levels.includes(at)) break;
        if (!this.#looked.has(at) && !this.#found.has(at)) unknown.set(at, top);
      }
    }
    return unknown;
  }
}

/** Directories of other people's code. */
const FOREIGN = /^(?:node_modules$|vendor$|\.)/i;

const LONGEST_MS = 5_000;

/**
 * Whether git ignores a path; false outside of a repository. Throws when git cannot tell, and the caller
 * must not use the path then.
 */
export function gitIgnored(deps: GitDeps): (path: string) => Promise<boolean> {
  const git = createGit(deps);
  return async (path) => {
    const cwd = dirname(dirname(path));
    if (findRepositoryRoot(cwd) === undefined) return false;
    // Git prints the path itself, or nothing with exit code 1.
    const said = await git(['check-ignore', '--no-index', '--', path], {
      cwd,
      answers: [1],
      timeoutMs: LONGEST_MS,
    });
    if (said.ok) return said.value !== '';
    // fail-closed: a dependency's directory could not be told from others.
    throw new PortcullisError('process', `git did not say whether it ignores ${path}`, {
      remedy: said.error,
    });
  };
}
