import { readEnvFile } from '../hooks/dispatch/env-file.js';
import type { HookVariables } from '../hooks/dispatch/env-variables.js';
import type { Environment } from '../platform/environment.js';
import type { FileSystem } from '../platform/fs/fs.js';
import type { ProcessSupervisor } from '../platform/process/process.js';

/** Takes over what hooks left for later shell commands, and says what was not taken. */
export async function takeVariables(parts: {
  readonly file: string;
  readonly fs: FileSystem;
  readonly processes: ProcessSupervisor;
  readonly env: Environment;
  readonly cwd: string;
  readonly variables: HookVariables;
  tell(text: string): void;
}): Promise<void> {
  const { file, fs, processes, env, variables, tell } = parts;
  if ((await fs.stat(file)) === undefined) return;
  const read = await readEnvFile(file, { fs, processes, env, cwd: parts.cwd });
  if (!read.ok) {
    tell(`the variables that hooks left cannot be read: ${read.error}`);
    return;
  }
  const refused = [...read.value.refused, ...variables.merge(read.value.variables)];
  if (refused.length > 0) {
    tell(`hooks may not set these variables for shell commands: ${refused.join(', ')}`);
  }
}
