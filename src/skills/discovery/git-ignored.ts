import { PortcullisError } from '../../errors.js';
import { createGit, type GitDeps } from '../../permissions/hardened-git.js';
import { dirname, findRepositoryRoot } from '../../platform/fs/paths.js';

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
