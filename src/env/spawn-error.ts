import { accessSync, constants, statSync } from 'node:fs';
import { messageOf, systemCodeOf } from '../errors.js';
import type { SpawnRequest } from './process.js';

/** Why a program could not be started, naming what to change. Node blames the program for everything. */
export function startErrorText(
  request: Pick<SpawnRequest, 'command' | 'args' | 'cwd'>,
  thrown: unknown,
): string {
  const { command, cwd } = request;
  const code = systemCodeOf(thrown);
  switch (code) {
    case 'ENOENT':
    case 'ENOTDIR':
      return directoryProblem(cwd) ?? `Cannot start ${command}: no such program.`;
    case 'EACCES':
    case 'EPERM':
      return directoryProblem(cwd) ?? `Cannot start ${command}: it is not executable.`;
    case 'E2BIG':
      return `Cannot start ${command}: its arguments and environment are too long for the system (${argumentBytes(request)} bytes of arguments). Put the text into a file and pass the file.`;
    case 'ENOEXEC':
      return `Cannot start ${command}: not a program this system can run (a script needs a first line like #!/bin/sh).`;
    case 'EAGAIN':
    case 'ENOMEM':
      return `Cannot start ${command}: the system has no room for another process (${code}). End something and try again.`;
    case 'EMFILE':
    case 'ENFILE':
      return `Cannot start ${command}: too many open files (${code}).`;
    case 'ERR_INVALID_ARG_VALUE':
      return `Cannot start ${command}: an argument contains a NUL character, which no program can be given.`;
    default:
      return `Cannot start ${command}: ${messageOf(thrown)}`;
  }
}

function directoryProblem(cwd: string): string | undefined {
  try {
    if (!statSync(cwd).isDirectory()) return `The working directory ${cwd} is not a directory.`;
    accessSync(cwd, constants.X_OK);
    return undefined;
  } catch (thrown) {
    return systemCodeOf(thrown) === 'ENOENT'
      ? `The working directory ${cwd} does not exist.`
      : `The working directory ${cwd} cannot be entered (${systemCodeOf(thrown) ?? messageOf(thrown)}).`;
  }
}

function argumentBytes(request: Pick<SpawnRequest, 'args'>): number {
  return request.args.reduce((sum, argument) => sum + Buffer.byteLength(argument) + 1, 0);
}
