import { closeSync, fstatSync, lstatSync, mkdirSync, openSync, readlinkSync } from 'node:fs';
import { PortcullisError, systemCodeOf } from '../../errors.js';
import { dirname } from './paths.js';
import { realPathSync } from './real-path.js';

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

/** A directory that stays the same one, whatever happens to its name. */
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
