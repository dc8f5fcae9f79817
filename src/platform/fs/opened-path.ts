import {
  closeSync,
  fstatSync,
  lstatSync,
  mkdirSync,
  openSync,
  readlinkSync,
  realpathSync,
  type Stats,
} from 'node:fs';
import { PortcullisError, systemCodeOf } from '../../errors.js';
import { basename, dirname, join, resolve, separator } from './paths.js';

/** fail-closed: throws where the descriptor is not of the file at the real path that was judged. */
export function requireOpenedAt(fd: number, realPath: string, path: string): void {
  if (!isOpenedAt(fd, realPath)) throw changedPath(path);
}

export function changedPath(path: string): PortcullisError {
  return new PortcullisError(
    'io',
    `${path} changed while the call was being judged; nothing was read or written`,
    { remedy: 'Repeat the call.' },
  );
}

/** A directory that stays the same one when its name is moved or replaced. */
export interface OpenDirectory {
  /** By which its files are reached: through the descriptor where the system can do that. */
  readonly path: string;
  close(): void;
}

/** Opens the directory of a judged real path, and makes it where it is missing. `path` is for the message. */
export function openParent(realPath: string, path: string): OpenDirectory {
  const directory = dirname(realPath);
  if (!isSamePath(realPathSync(directory), directory)) throw changedPath(path);
  mkdirSync(directory, { recursive: true });
  return openDirectory(directory, path);
}

/** Opens the directory at a judged real path. */
export function openDirectory(directory: string, path: string): OpenDirectory {
  if (!isSamePath(realPathSync(directory), directory)) throw changedPath(path);
  if (process.platform !== 'linux') return { path: directory, close: () => undefined };
  const fd = openSync(directory, O_PATH);
  try {
    requireOpenedAt(fd, directory, path);
    const own = descriptorPath(fd) === undefined ? directory : `/proc/self/fd/${fd}`;
    return { path: own, close: () => closeSync(fd) };
  } catch (thrown) {
    closeSync(fd);
    throw thrown;
  }
}

/** Of Linux, and not among Node's constants: needs no leave to list the directory. */
const O_PATH = 0o10000000;

function isOpenedAt(fd: number, realPath: string): boolean {
  const opened = descriptorPath(fd);
  if (opened !== undefined) return opened === realPath;
  // The system does not tell the path of a descriptor, so what is there now is compared.
  const there = lstatSync(realPath, { throwIfNoEntry: false });
  const { dev, ino } = fstatSync(fd);
  return there?.dev === dev && there.ino === ino && isSamePath(realPathSync(realPath), realPath);
}

/** Outside of Linux file systems ignore case or normalise names, so that a real path has several spellings. */
export function isSamePath(one: string, other: string): boolean {
  if (process.platform === 'linux') return one === other;
  return one.normalize().toLowerCase() === other.normalize().toLowerCase();
}

function descriptorPath(fd: number): string | undefined {
  if (process.platform !== 'linux') return undefined;
  try {
    return readlinkSync(`/proc/self/fd/${fd}`);
  } catch (thrown) {
    if (systemCodeOf(thrown) === 'ENOENT') return undefined;
    throw thrown;
  }
}

/** As `FileSystem.realPath`. */
export function realPathSync(path: string): string {
  return realPath(resolve(path), { followed: 0 });
}

const MOST_LINKS = 40;

/** Links to nothing that were met on the way. */
interface Way {
  followed: number;
}

function realPath(path: string, way: Way): string {
  try {
    return realpathSync.native(path);
  } catch (thrown) {
    const code = systemCodeOf(thrown);
    if (code !== 'ENOENT' && code !== 'ENOTDIR') throw thrown;
  }
  const parent = dirname(path);
  if (parent === path) return path;
  const last = isThere(parent) ? parent : lastThere(parent);
  if (last !== parent) {
    const missing = join(realPath(last, way), path.slice(last.length));
    // Where a link to nothing leads there may be something after all.
    return isLink(last) ? realPath(missing, way) : missing;
  }
  const above = realPath(parent, way);
  const here = join(above, basename(path));
  // A link to nothing still decides where a write would land.
  return isLink(here) ? targetOf(here, above, way) : here;
}

/** The longest beginning of a path at which something is; a search by halves, as a path may have thousands of parts. */
function lastThere(path: string): string {
  const ends: number[] = [];
  for (let at = path.indexOf(separator); at !== -1; at = path.indexOf(separator, at + 1)) {
    ends.push(at);
  }
  ends.push(path.length);
  // The first is the root, which is always there.
  let there = 0;
  for (let beyond = ends.length; beyond - there > 1; ) {
    const middle = (there + beyond) >> 1;
    if (isThere(path.slice(0, ends[middle]))) there = middle;
    else beyond = middle;
  }
  return there === 0 ? path.slice(0, (ends[0] ?? 0) + 1) : path.slice(0, ends[there]);
}

function isThere(path: string): boolean {
  return lstat(path) !== undefined;
}

function isLink(path: string): boolean {
  return lstat(path)?.isSymbolicLink() === true;
}

function lstat(path: string): Stats | undefined {
  try {
    return lstatSync(path, { throwIfNoEntry: false });
  } catch (thrown) {
    // Below a file there is nothing.
    if (systemCodeOf(thrown) === 'ENOTDIR') return undefined;
    throw thrown;
  }
}

/** Step by step: `..` is what lies above the place that was reached, not above its name. */
function targetOf(link: string, above: string, way: Way): string {
  way.followed++;
  // fail-closed: a chain of links this long is a loop without a target.
  if (way.followed > MOST_LINKS) {
    throw new PortcullisError('io', `${link} goes through too many symbolic links`, {
      remedy: 'Remove the loop of links.',
    });
  }
  const target = readlinkSync(link);
  if (separator !== '/') return realPath(resolve(above, target), way);
  let at = target.startsWith('/') ? '/' : above;
  for (const step of target.split('/')) {
    if (step === '..') at = dirname(at);
    else if (step !== '' && step !== '.') at = realPath(join(at, step), way);
  }
  return at;
}
