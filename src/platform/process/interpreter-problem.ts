import { closeSync, existsSync, openSync, readSync } from 'node:fs';
import { delimiter, resolve } from 'node:path';
import type { SpawnRequest } from './process.js';
import type { StartError } from './spawn-error.js';

/** What the kernel reads of a first line. */
const FIRST_LINE_BYTES = 256;

/**
 * The system says of a script whose interpreter is missing what it says of a missing script. The person
 * looking at a file that is plainly there is told what the matter is.
 */
export function interpreterProblem(
  request: Pick<SpawnRequest, 'command' | 'cwd' | 'env'>,
  error: StartError,
): StartError | undefined {
  if (error.startErrorKind !== 'program-missing') return undefined;
  const file = fileOf(request);
  const interpreter = file === undefined ? undefined : interpreterOf(file);
  if (interpreter === undefined || existsSync(resolve(request.cwd, interpreter))) {
    return undefined;
  }
  return {
    startError: `Cannot start ${request.command}: its first line names the interpreter ${interpreter}, which does not exist.`,
    startErrorKind: 'other',
  };
}

function fileOf({
  command,
  cwd,
  env,
}: Pick<SpawnRequest, 'command' | 'cwd' | 'env'>): string | undefined {
  if (command.includes('/')) return resolve(cwd, command);
  return (env.PATH ?? '')
    .split(delimiter)
    .map((directory) => resolve(cwd, directory, command))
    .find((file) => existsSync(file));
}

function interpreterOf(file: string): string | undefined {
  try {
    const fd = openSync(file, 'r');
    try {
      const head = Buffer.alloc(FIRST_LINE_BYTES);
      const text = head.toString('utf8', 0, readSync(fd, head, 0, head.length, 0));
      // A carriage return is part of the name, and the usual reason why there is no such program.
      return /^#![ \t]*([^ \t\n]+)/.exec(text)?.[1]?.replace('\r', '\\r');
    } finally {
      closeSync(fd);
    }
  } catch {
    // Not there or not readable: the system's own reason stands.
    return undefined;
  }
}
