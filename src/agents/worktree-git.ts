import { minimalEnvironment } from '../env/environment.js';
import type { ProcessSupervisor } from '../env/process.js';
import { err, ok, type Result } from '../util/result.js';

export interface GitDeps {
  readonly processes: Pick<ProcessSupervisor, 'run'>;
  readonly env: Readonly<Record<string, string | undefined>>;
}

export interface GitCall {
  readonly cwd: string;
  readonly input?: string;
  /** Exit codes besides 0 that are answers. */
  readonly answers?: readonly number[];
}

/** Runs git and gives what it printed, or what went wrong in one line. */
export type Git = (args: readonly string[], call: GitCall) => Promise<Result<string, string>>;

/** Checking a large repository out takes a while. */
const LONGEST_MS = 120_000;
const LONGEST_OUTPUT = 16 * 1024 * 1024;

/** Nothing that a repository names is started by what we ask of git, but for its own filters. */
const HARMLESS: readonly string[] = [
  '-c',
  'core.hooksPath=/dev/null',
  '-c',
  'core.fsmonitor=false',
  '-c',
  'submodule.recurse=false',
];

export function createGit({ processes, env }: GitDeps): Git {
  const clean = Object.fromEntries(
    Object.entries(minimalEnvironment(env)).filter(([name]) => !name.startsWith('GIT_')),
  );
  const environment = {
    ...clean,
    LC_ALL: 'C',
    GIT_TERMINAL_PROMPT: '0',
    GIT_OPTIONAL_LOCKS: '0',
  };
  return async (args, { cwd, input, answers = [] }) => {
    const { exitCode, stdout, stderr, startError, timedOut, stdoutTruncated } = await processes.run(
      {
        command: 'git',
        args: [...HARMLESS, ...args],
        cwd,
        env: environment,
        timeoutMs: LONGEST_MS,
        maxOutputBytes: LONGEST_OUTPUT,
        label: `git ${args[0] ?? ''}`,
        ...(input === undefined ? {} : { input }),
      },
    );
    if (startError !== undefined) return err(`git could not be started: ${startError}`);
    if (timedOut) return err(`git ${args[0]} took longer than ${LONGEST_MS / 1000} s`);
    // fail-closed: half a list of files is none.
    if (stdoutTruncated === true) return err(`git ${args[0]} had too much to say`);
    if (exitCode === 0 || (exitCode !== null && answers.includes(exitCode))) return ok(stdout);
    const said = stderr.trim().split('\n').filter(Boolean).join('; ');
    return err(said === '' ? `git ${args[0]} ended with ${exitCode ?? 'a signal'}` : said);
  };
}

/** The parts of an answer in which each ends with a zero. */
export function zeroSeparated(text: string): readonly string[] {
  return text.split('\0').filter((part) => part !== '');
}
