import { minimalEnvironment } from '../env/environment.js';
import { dirname, findRepositoryRoot } from '../env/paths.js';
import type { ProcessSupervisor } from '../env/process.js';
import { PortcullisError } from '../errors.js';

export interface GitIgnoredDeps {
  readonly processes: Pick<ProcessSupervisor, 'run'>;
  readonly env: Readonly<Record<string, string | undefined>>;
}

const LONGEST_MS = 5_000;
/** A repository's own settings must not be able to start programs while we ask. */
const HARMLESS: readonly string[] = [
  '-c',
  'core.fsmonitor=false',
  '-c',
  'core.hooksPath=/dev/null',
];

/**
 * Whether git ignores a path. Outside of a repository nothing is ignored. Throws when git cannot say,
 * which for whoever asks must mean that the path is not used.
 */
export function gitIgnored({ processes, env }: GitIgnoredDeps): (path: string) => Promise<boolean> {
  return async (path) => {
    const cwd = dirname(dirname(path));
    if (findRepositoryRoot(cwd) === undefined) return false;
    const { exitCode, stderr, startError } = await processes.run({
      command: 'git',
      args: [...HARMLESS, 'check-ignore', '--quiet', '--no-index', '--', path],
      cwd,
      env: minimalEnvironment(env),
      timeoutMs: LONGEST_MS,
      label: 'git check-ignore',
    });
    if (exitCode === 0) return true;
    if (exitCode === 1) return false;
    // fail-closed: a dependency's directory looks like every other.
    throw new PortcullisError('process', `git did not say whether it ignores ${path}`, {
      remedy: startError ?? stderr.trim().split('\n')[0],
    });
  };
}
