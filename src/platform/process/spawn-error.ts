import {
  accessSync,
  closeSync,
  constants,
  existsSync,
  openSync,
  readSync,
  statSync,
} from 'node:fs';
import { delimiter, resolve } from 'node:path';
import { messageOf, systemCodeOf } from '../../errors.js';
import type { SpawnRequest, StartErrorKind } from './process.js';

export interface StartError {
  readonly startError: string;
  readonly startErrorKind: StartErrorKind;
}

/** Why a program could not be started, naming what to change. Node blames the program for everything. */
export function startErrorOf(
  request: Pick<SpawnRequest, 'command' | 'args' | 'cwd' | 'env'>,
  thrown: unknown,
): StartError {
  const code = systemCodeOf(thrown);
  const aboutDirectory =
    code !== undefined && DIRECTORY_CODES.has(code) ? directoryProblem(request.cwd) : undefined;
  if (aboutDirectory !== undefined) {
    return { startError: aboutDirectory, startErrorKind: 'directory' };
  }
  const aboutInterpreter = code === 'ENOENT' ? interpreterProblem(request) : undefined;
  if (aboutInterpreter !== undefined) {
    return { startError: aboutInterpreter, startErrorKind: 'other' };
  }
  return {
    startError: `Cannot start ${request.command}: ${reasonFor(request, code, thrown)}`,
    startErrorKind: code === 'ENOENT' ? 'program-missing' : code === 'E2BIG' ? 'too-long' : 'other',
  };
}

const DIRECTORY_CODES: ReadonlySet<string> = new Set(['ENOENT', 'ENOTDIR', 'EACCES', 'EPERM']);

function reasonFor(
  request: Pick<SpawnRequest, 'args'>,
  code: string | undefined,
  thrown: unknown,
): string {
  switch (code) {
    case 'ENOENT':
      return 'no such program.';
    case 'EACCES':
    case 'EPERM':
      return 'it is not executable.';
    case 'E2BIG':
      return `its arguments and environment are too long for the system (${argumentBytes(request)} bytes of arguments). Put the text into a file and pass the file.`;
    case 'ENOEXEC':
      return 'not a program this system can run (a script needs a first line like #!/bin/sh).';
    case 'EAGAIN':
    case 'ENOMEM':
      return `the system has no room for another process (${code}). End something and try again.`;
    case 'EMFILE':
    case 'ENFILE':
      return `too many open files (${code}).`;
    case 'ERR_INVALID_ARG_VALUE':
      return 'an argument contains a NUL character, which no program can be given.';
    default:
      return messageOf(thrown);
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

/** What the kernel reads of a first line. */
const FIRST_LINE_BYTES = 256;

/**
 * The system says of a script whose interpreter is missing what it says of a missing script. This
 * names the missing interpreter, since the script itself is plainly there.
 */
function interpreterProblem(
  request: Pick<SpawnRequest, 'command' | 'cwd' | 'env'>,
): string | undefined {
  const file = fileOf(request);
  const interpreter = file === undefined ? undefined : interpreterOf(file);
  if (interpreter === undefined || existsSync(resolve(request.cwd, interpreter))) return undefined;
  return `Cannot start ${request.command}: its first line names the interpreter ${interpreter}, which does not exist.`;
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
    // Not there or not readable: the system's own reason is reported.
    return undefined;
  }
}
