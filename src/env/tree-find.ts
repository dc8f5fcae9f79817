import {
  closeSync,
  constants,
  existsSync,
  fstatSync,
  ftruncateSync,
  openSync,
  readSync,
  unlinkSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { childProcess } from './builtins.js';
import { join } from './paths.js';
import { randomBytes } from './random.js';
import { RECORD_FORMAT } from './tree-records.js';

/** Where the system keeps its own; the search path of a project is not asked. */
const PLACES = ['/usr/bin/find', '/bin/find'];
const LONGEST_MS = 60_000;
/** Of output: a tree that needs more is beyond any cap. */
const MOST_BYTES = 512 * 1024 * 1024;

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

/**
 * Where a process of find writes to: a file without a name. Through a pipe, which holds little, both
 * sides would have to wait for each other again and again, on a busy machine for long.
 */
export class FindOutput {
  #fd: number | undefined;

  /** Undefined: it could not see everything, or took too long. Whoever asks has to look in another way. */
  async collect(
    command: string,
    args: readonly string[],
    cwd: string,
  ): Promise<Buffer | undefined> {
    try {
      this.#fd ??= namelessFile();
      ftruncateSync(this.#fd, 0);
      // fail-closed: one error is enough for something not to have been seen.
      if ((await exitCode(command, args, cwd, this.#fd)) !== 0) return undefined;
      return readWhole(this.#fd);
    } catch {
      return undefined;
    }
  }

  close(): void {
    if (this.#fd !== undefined) closeSync(this.#fd);
    this.#fd = undefined;
  }
}

function exitCode(
  command: string,
  args: readonly string[],
  cwd: string,
  output: number,
): Promise<number | null> {
  return new Promise((resolve) => {
    const child = childProcess().spawn(command, args, {
      cwd,
      env: ENVIRONMENT,
      // What it complains about it also tells by how it exits.
      stdio: ['ignore', output, 'ignore'],
      timeout: LONGEST_MS,
      killSignal: 'SIGKILL',
    });
    child.on('error', () => resolve(null));
    child.on('exit', resolve);
  });
}

const NEW_FILE =
  constants.O_RDWR |
  constants.O_APPEND |
  constants.O_CREAT |
  constants.O_EXCL |
  (constants.O_NOFOLLOW ?? 0);

function namelessFile(): number {
  const path = join(tmpdir(), `portcullis-find-${randomBytes(16).toString('hex')}`);
  const fd = openSync(path, NEW_FILE, 0o600);
  unlinkSync(path);
  return fd;
}

function readWhole(fd: number): Buffer | undefined {
  const { size } = fstatSync(fd);
  if (size > MOST_BYTES) return undefined;
  const bytes = Buffer.allocUnsafe(size);
  for (let done = 0; done < size; ) {
    const count = readSync(fd, bytes, done, size - done, done);
    if (count === 0) return undefined;
    done += count;
  }
  return bytes;
}
