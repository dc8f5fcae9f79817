import type { FileSystem } from '../../platform/fs/fs.js';
import type { ProcessResult, ProcessSupervisor } from '../../platform/process/process.js';

export interface RipgrepDeps {
  readonly fs: FileSystem;
  readonly processes: Pick<ProcessSupervisor, 'run'>;
  /** Environment of the child; `PATH` finds an installed `rg` when none came with the package. */
  readonly env?: Readonly<Record<string, string>>;
}

/** Runs ripgrep without a shell, its configuration file or a way to write. */
export async function runRipgrep(
  deps: RipgrepDeps,
  call: { args: readonly string[]; cwd: string; signal: AbortSignal },
): Promise<ProcessResult> {
  return deps.processes.run({
    command: await ripgrepProgram(deps.fs),
    args: ['--no-config', '--color=never', ...call.args],
    cwd: call.cwd,
    env: deps.env ?? {},
    timeoutMs: DEADLINE_MS,
    signal: call.signal,
    maxOutputBytes: OUTPUT_BYTES,
    label: 'rg',
  });
}

export const DEADLINE_MS = 20_000;
const OUTPUT_BYTES = 16 * 1024 * 1024;

/** The program that came with the package, else whatever `rg` the path finds. */
export async function ripgrepProgram(fs: FileSystem): Promise<string> {
  try {
    const { rgPath } = await import('@vscode/ripgrep');
    if ((await fs.stat(rgPath)) !== undefined) return rgPath;
  } catch {
    // The package has no program for this platform; an installed one will do.
  }
  return 'rg';
}
