import { existsSync } from 'node:fs';
import { childProcess } from './builtins.js';

/** Where the system keeps its own; the search path of a project is not asked. */
const PLACES = ['/usr/bin/find', '/bin/find'];
const LONGEST_MS = 60_000;
/** Of output: a tree that needs more is beyond any cap. */
const MOST_BYTES = 256 * 1024 * 1024;

let program: Promise<string | undefined> | undefined;

/** GNU find, which compares change times; undefined where there is none. Asked once. */
export function gnuFind(): Promise<string | undefined> {
  program ??= new Promise((resolve) => {
    const path = PLACES.find((place) => existsSync(place));
    if (path === undefined) return resolve(undefined);
    const options = { env: ENVIRONMENT, timeout: 5_000 };
    childProcess().execFile(path, ['--version'], options, (thrown, stdout) => {
      resolve(thrown === null && stdout.includes('GNU findutils') ? path : undefined);
    });
  });
  return program;
}

const ENVIRONMENT = { LC_ALL: 'C' };

/** A part of the tree that one process goes through. */
export interface FindPart {
  /** Directories from the root; none: the root itself. */
  readonly starts: readonly string[];
  /** Directories that are named, but not gone into. */
  readonly closed: readonly string[];
}

export interface FindSkips {
  /** Directories that are not even named. */
  readonly paths: readonly string[];
  /** Names of directories that are named, but not gone into. */
  readonly names: readonly string[];
}

/** Names what has changed after `since`, in seconds since the epoch; not the starts themselves. */
export function findArguments(part: FindPart, skips: FindSkips, since: number): string[] {
  const name = ['-newerct', `@${since.toFixed(3)}`, '-print0'];
  const shut = [
    ...part.closed.map((path) => ['-path', pathPattern(path)]),
    ...skips.names.map((one) => ['-name', escaped(one)]),
  ];
  const skipped = skips.paths.map((path) => ['-path', pathPattern(path)]);
  return [
    '-P',
    ...(part.starts.length === 0 ? ['.'] : part.starts.map((start) => `./${start}`)),
    '-xdev',
    '-ignore_readdir_race',
    '-mindepth',
    '1',
    // First of all, so that the many names of files are not compared with any pattern.
    ...['!', '-type', 'd', '(', ...name, '-o', '-true', ')', '-o'],
    ...anyOf([['-name', '.git'], ['-name', 'node_modules'], ...skipped]),
    ...['-prune', '-o'],
    ...(shut.length === 0 ? [] : [...anyOf(shut), '-prune', ...name, '-o']),
    ...name,
  ];
}

function anyOf(tests: readonly (readonly string[])[]): string[] {
  return ['(', ...tests.flatMap((test, at) => (at === 0 ? test : ['-o', ...test])), ')'];
}

function pathPattern(path: string): string {
  return `./${escaped(path)}`;
}

function escaped(text: string): string {
  return text.replace(/[\\*?[\]]/g, '\\$&');
}

/** What a process of find prints. Undefined: it could not see everything, or took too long. */
export function runFind(
  command: string,
  args: readonly string[],
  cwd: string,
): Promise<Buffer | undefined> {
  const options = {
    cwd,
    env: ENVIRONMENT,
    encoding: 'buffer',
    maxBuffer: MOST_BYTES,
    timeout: LONGEST_MS,
    killSignal: 'SIGKILL',
  } as const;
  return new Promise((resolve) => {
    // fail-closed: one error is enough for something not to have been seen.
    childProcess().execFile(command, args, options, (thrown, stdout) => {
      resolve(thrown === null ? stdout : undefined);
    });
  });
}

/** The paths in an output, from the root. One that is no text becomes another, which nobody knows. */
export function* readPaths(output: Buffer): Iterable<string> {
  let at = 0;
  for (let end = output.indexOf(0); end !== -1; end = output.indexOf(0, at)) {
    // Without the './' that it begins with.
    yield output.toString('utf8', at + 2, end);
    at = end + 1;
  }
}
