import { existsSync } from 'node:fs';
import { childProcess } from './builtins.js';
import { RECORD_FORMAT } from './tree-records.js';

/** Where the system keeps its own; the search path of a project is not asked. */
const PLACES = ['/usr/bin/find', '/bin/find'];
const LONGEST_MS = 60_000;
/** Of output: a tree that needs more is beyond any cap. */
const MOST_BYTES = 512 * 1024 * 1024;
const SLACK = 64 * 1024;

let program: Promise<string | undefined> | undefined;

/** GNU find, whose output can be given a form; undefined where there is none. Asked once. */
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

export function findArguments({ starts, closed }: FindPart, skips: FindSkips): string[] {
  const any = (option: string, values: readonly string[]): string[] =>
    values.flatMap((value, at) => (at === 0 ? [option, value] : ['-o', option, value]));
  const skipped = skips.paths.map(pathPattern);
  const shut = [...any('-path', closed.map(pathPattern))];
  const named = any('-name', skips.names.map(escaped));
  const shutAll = [...shut, ...(shut.length > 0 && named.length > 0 ? ['-o'] : []), ...named];
  const print = ['-printf', RECORD_FORMAT];
  return [
    '-P',
    ...(starts.length === 0 ? ['.'] : starts.map((start) => `./${start}`)),
    '-xdev',
    '-ignore_readdir_race',
    '-mindepth',
    '1',
    ...['(', ...any('-name', ['.git', 'node_modules']), ')', '-prune', '-o'],
    ...(skipped.length === 0
      ? []
      : ['-type', 'd', '(', ...any('-path', skipped), ')', '-prune', '-o']),
    ...(shutAll.length === 0 ? [] : ['-type', 'd', '(', ...shutAll, ')', '-prune', ...print, '-o']),
    ...print,
  ];
}

function pathPattern(path: string): string {
  return `./${escaped(path)}`;
}

function escaped(text: string): string {
  return text.replace(/[\\*?[\]]/g, '\\$&');
}

/** Undefined: it could not see everything, or took too long. Whoever asks has to look in another way. */
export function runFind(
  command: string,
  args: readonly string[],
  options: { cwd: string; expectedBytes: number; signal: AbortSignal },
): Promise<Buffer | undefined> {
  return new Promise((resolve) => {
    let output = Buffer.allocUnsafe(options.expectedBytes + SLACK);
    let length = 0;
    const child = childProcess().spawn(command, args, {
      cwd: options.cwd,
      env: ENVIRONMENT,
      // It says by how it exits whether there was something to complain about.
      stdio: ['ignore', 'pipe', 'ignore'],
      signal: options.signal,
      timeout: LONGEST_MS,
      killSignal: 'SIGKILL',
    });
    child.stdout.on('data', (chunk: Buffer) => {
      if (length + chunk.length > output.length) {
        const larger = Buffer.allocUnsafe(2 * (length + chunk.length));
        output.copy(larger, 0, 0, length);
        output = larger;
      }
      chunk.copy(output, length);
      length += chunk.length;
      if (length > MOST_BYTES) child.kill('SIGKILL');
    });
    child.on('error', () => resolve(undefined));
    child.on('close', (code) => {
      // fail-closed: one error is enough for something not to have been seen.
      resolve(code === 0 ? output.subarray(0, length) : undefined);
    });
  });
}
