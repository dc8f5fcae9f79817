import type { SessionEnvironment } from '../config/session-environment.js';
import { relative, toPosix } from '../platform/fs/paths.js';
import type { ProcessSupervisor } from '../platform/process/process.js';
import { parseGlob, walk } from '../tools/search/glob-pattern.js';
import { runRipgrep } from '../tools/search/grep.js';

const WALK_MS = 5_000;
const SKIPPED = new Set(['.git', 'node_modules']);

/**
 * Names of the files below the working directory, as ripgrep lists them: what .gitignore and .ignore leave out is not
 * among them. Without ripgrep the tree is walked. Only names, for the person who completes them: no rule is asked.
 */
export async function projectFiles(
  { fs, workspace, clock, env }: Pick<SessionEnvironment, 'fs' | 'workspace' | 'clock' | 'env'>,
  processes: Pick<ProcessSupervisor, 'run'>,
  signal: AbortSignal,
): Promise<readonly string[]> {
  const { cwd } = workspace;
  const args = ['--files', '--null', '--hidden', '--no-require-git', '--glob', '!.git', '--', '.'];
  const { startError, stdout } = await runRipgrep(
    { fs, processes, env: { PATH: env.PATH ?? '' } },
    { args, cwd, signal },
  );
  if (startError === undefined) return stdout.split('\0').flatMap(relativeName);
  const over = clock.monotonic() + WALK_MS;
  const isOver = (): boolean => signal.aborted || clock.monotonic() > over;
  const walked = await walk(fs, parseGlob('**'), { root: cwd, skip: SKIPPED, isOver });
  return walked.paths.flatMap((file) => relativeName(relative(cwd, file)));
}

function relativeName(name: string): readonly string[] {
  return name === '' ? [] : [toPosix(name.startsWith('.') ? name.replace(/^\.[/\\]/, '') : name)];
}
