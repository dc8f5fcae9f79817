import { own } from '../../lib/own.js';
import { err, ok, type Result } from '../../lib/result.js';
import { visible } from '../../lib/text/visible.js';
import {
  type Environment,
  isInternalVariable,
  shellEnvironment,
} from '../../platform/environment.js';
import type { FileSystem } from '../../platform/fs/fs.js';
import { dirname } from '../../platform/fs/paths.js';
import type { ProcessResult, ProcessSupervisor } from '../../platform/process/process.js';
import { runsOtherCode } from '../../settings/trust/env.js';
import { seconds } from './timeout.js';

interface EnvFileDeps {
  readonly processes: Pick<ProcessSupervisor, 'run'>;
  readonly fs: Pick<FileSystem, 'stat'>;
  /** The program's own environment. The file is read with the part of it that shell commands get. */
  readonly env: Environment;
  /** Where relative paths in the file start. Default: the directory of the file. */
  readonly cwd?: string;
}

type Variables = Readonly<Record<string, string>>;

const MAX_FILE_BYTES = 256 * 1024;
const LIMIT_MS = 5000;
/** Room for the environment twice, before and after, beside what the file may bring. */
const MAX_OUTPUT_BYTES = 8 * 1024 * 1024;

/**
 * Reads what command hooks left in the file that `CLAUDE_ENV_FILE` named. It is shell code, so a shell
 * reads it; what counts are the variables that are new or different afterwards. A file that is not there
 * or empty is fine.
 */
export async function readEnvFile(
  file: string,
  deps: EnvFileDeps,
): Promise<Result<Variables, string>> {
  const stat = await deps.fs.stat(file).catch(() => undefined);
  if (stat === undefined || (stat.kind === 'file' && stat.size === 0)) {
    return ok({});
  }
  if (stat.kind !== 'file') return err(`${file} is not a regular file.`);
  if (stat.size > MAX_FILE_BYTES) {
    return err(`${file} has ${stat.size} bytes; at most ${MAX_FILE_BYTES} are read.`);
  }
  const result = await deps.processes.run({
    command: 'bash',
    args: ['--norc', '--noprofile', '-c', SCRIPT, 'bash', file],
    cwd: deps.cwd ?? dirname(file),
    // What the file builds on (`$PATH`, `$GOPATH`) is what the commands after it will have.
    env: shellEnvironment(deps.env),
    timeoutMs: LIMIT_MS,
    graceMs: 250,
    groupLifetimeMs: 0,
    maxOutputBytes: MAX_OUTPUT_BYTES,
    maxStderrBytes: 4096,
    label: 'variables of hooks',
  });
  const problem = problemOf(result);
  if (problem !== undefined) return err(`${file}: ${problem}`);
  const changed = changedVariables(result.stdout);
  if (changed !== undefined) return ok(changed);
  return err(`${file}: it ended the shell that read it${lastLine(result.stderr)}`);
}

/** Exit code for a file that no shell can read; nothing in the file has run by then. */
const SYNTAX_ERROR = 100;

/**
 * Lists the environment before and after, each entry and each list ended by NUL. Own output goes to
 * descriptor 3, which the file does not have, so that what the file prints cannot be taken for a
 * variable. Done by the shell itself: the file may have changed the path.
 */
const SCRIPT = `
exec 3>&1 1>&2 </dev/null
bash --norc --noprofile -n -- "$1" 3>&- || exit ${SYNTAX_ERROR}
__portcullis_list() {
  local IFS=$' \\t\\n' name
  for name in $(compgen -e); do
    [ -n "\${!name+set}" ] && printf '%s=%s\\0' "$name" "\${!name}" >&3
  done
  printf '\\0' >&3
}
__portcullis_list
set -a
. "$1" 3>&-
set +aefu
__portcullis_list
`;

/** What a shell changes by itself. */
const OF_THE_SHELL: ReadonlySet<string> = new Set(['PWD', 'OLDPWD', 'SHLVL', '_', 'IFS']);

function problemOf(result: ProcessResult): string | undefined {
  if (result.startError !== undefined) return result.startError;
  if (result.timedOut) return `the shell was not done with it after ${seconds(LIMIT_MS)}.`;
  if (result.exitCode === SYNTAX_ERROR) return `not valid shell code${lastLine(result.stderr)}`;
  return result.stdoutTruncated ? 'its variables are too long.' : undefined;
}

/** The variables that differ between the two lists; undefined when they are not all there. */
function changedVariables(text: string): Variables | undefined {
  const entries = text.split('\0');
  const middle = entries.indexOf('');
  const end = entries.indexOf('', middle + 1);
  // The last part of a complete text follows the last NUL and is empty as well.
  if (middle === -1 || end === -1 || end !== entries.length - 2) return undefined;
  const before = new Set(entries.slice(0, middle));
  const changed = entries.slice(middle + 1, end).filter((entry) => !before.has(entry));
  return Object.fromEntries(
    changed
      .map((entry) => [entry.slice(0, entry.indexOf('=')), entry.slice(entry.indexOf('=') + 1)])
      .filter(([name = '']) => !OF_THE_SHELL.has(name)),
  );
}

function lastLine(stderr: string): string {
  const line = stderr.trimEnd().split('\n').at(-1) ?? '';
  return line === '' ? '.' : `: ${visible(line)}`;
}

/** Variables that hooks left for later shell commands. */
export interface HookVariables {
  /** Takes over what a hook left. Returns the names that were not taken. */
  merge(found: Readonly<Record<string, string>>): readonly string[];
  /** Frozen; the same object until something changes. */
  current(): Readonly<Record<string, string>>;
}

/** All names and values together; a shell with more does not start on every system. */
const MOST_CHARACTERS = 96 * 1024;
const MOST_VARIABLES = 500;

export function createHookVariables(): HookVariables {
  let current: Readonly<Record<string, string>> = Object.freeze({});
  return {
    merge(found) {
      const refused: string[] = [];
      for (const [name, value] of Object.entries(found)) {
        const next = { ...current, [name]: value };
        if (!isTaken(name, value) || !fits(next)) refused.push(name);
        else if (own(current, name) !== value) current = Object.freeze(next);
      }
      return refused;
    },
    current: () => current,
  };
}

/**
 * A hook may hand on secrets, which is often what it is for. What would change the meaning of the
 * commands that are judged before they run is not taken.
 */
function isTaken(name: string, value: string): boolean {
  if (!/^[A-Za-z_][A-Za-z0-9_]*$/.test(name) || value.includes('\0')) return false;
  // fail-closed: commands are judged with the directory that `~` means here.
  if (name === '__proto__' || name === 'HOME') return false;
  // fail-closed: no hook may make later commands load or run other code.
  return !isInternalVariable(name) && runsOtherCode(name) === undefined;
}

function fits(variables: Readonly<Record<string, string>>): boolean {
  const entries = Object.entries(variables);
  const characters = entries.reduce((sum, [name, value]) => sum + name.length + value.length, 0);
  return entries.length <= MOST_VARIABLES && characters <= MOST_CHARACTERS;
}
