import {
  type BigIntStats,
  closeSync,
  constants,
  existsSync,
  fstatSync,
  lstatSync,
  openSync,
  readFileSync,
  realpathSync,
  statSync,
} from 'node:fs';
import { messageOf, systemCodeOf } from '../../errors.js';
import { join } from '../../platform/fs/paths.js';

/** A directory verified to be inside the root, and a name in it. */
export interface Place {
  /** A path that the system resolves without following links. */
  readonly directory: string;
  readonly name: string;
}

/** A refused operation; the message is for people. */
export class Refused extends Error {}

export const NO_FOLLOW = constants.O_NOFOLLOW ?? 0;
/** Linux `O_PATH`: a descriptor that needs no read permission. */
export const PATH_ONLY = 0o10000000;
const OPEN_PARENT = PATH_ONLY | (constants.O_DIRECTORY ?? 0) | NO_FOLLOW;

const REPLACED = 'the workspace directory was replaced by another one since it was opened';
export const MOUNTED = 'another file system is mounted there';
/** The stamp of a missing path. */
export const NOTHING = 'nothing';

let descriptorPaths: boolean | undefined;

/** Whether directories are addressable by descriptor, which is immune to later renames. */
export function hasDescriptorPaths(): boolean {
  descriptorPaths ??= process.platform === 'linux' && existsSync('/proc/self/fd');
  return descriptorPaths;
}

/** Whether a rewind may touch the path: relative, without `..`, and outside of `.git`. */
export function isRewindablePath(path: string): boolean {
  if (path === '' || path.startsWith('/') || path.includes('\0')) return false;
  // fail-closed: an undecodable name is ambiguous.
  if (path.includes('\uFFFD')) return false;
  return path
    .split('/')
    .every((part) => part !== '' && part !== '.' && part !== '..' && !isGits(part));
}

export function isInGit(path: string): boolean {
  return path.split('/').some(isGits);
}

function isGits(part: string): boolean {
  return part.toLowerCase() === '.git';
}

/** Identifies a directory independently of its path. */
interface Identity {
  readonly dev: bigint;
  readonly ino: bigint;
  /** The mount id (Linux). */
  readonly mount?: string | undefined;
}

/** The workspace's root as of construction; a directory that replaces it is refused. */
export class WorkspaceRoot {
  readonly #path: string;
  readonly #identity: Identity | undefined;

  constructor(path: string) {
    this.#path = path;
    try {
      this.#identity = this.#now();
    } catch {
      // fail-closed: without an identity no directory matches.
      this.#identity = undefined;
    }
  }

  /** Why the workspace must not be touched, for people. */
  trouble(): string | undefined {
    try {
      const now = this.#now();
      return this.#isRoot(now) && now.mount === this.#identity?.mount ? undefined : REPLACED;
    } catch (thrown) {
      return describeRestoreError(thrown);
    }
  }

  at<T>(path: string, work: (place: Place) => T): T {
    const { place, close } = this.#open(path);
    try {
      return work(place);
    } finally {
      close();
    }
  }

  async during<T>(path: string, work: (place: Place) => Promise<T>): Promise<T> {
    const { place, close } = this.#open(path);
    try {
      return await work(place);
    } finally {
      close();
    }
  }

  #open(path: string): { readonly place: Place; close(): void } {
    if (!isRewindablePath(path)) throw new Refused('the path leads out of the workspace');
    const parts = path.split('/');
    const name = parts.pop() ?? '';
    if (!hasDescriptorPaths()) {
      return { place: { directory: this.#checkedParent(parts), name }, close() {} };
    }
    const fd = this.#openParent(parts);
    return {
      place: { directory: `/proc/self/fd/${fd}`, name },
      close: () => closeSync(fd),
    };
  }

  /** Opens each directory relative to the descriptor of its parent, so a link on the way fails. */
  #openParent(parts: readonly string[]): number {
    let fd = openSync(this.#path, OPEN_PARENT);
    try {
      if (!this.#isRoot(fstatSync(fd, { bigint: true }))) throw new Refused(REPLACED);
      for (const part of parts) {
        const next = openSync(`/proc/self/fd/${fd}/${part}`, OPEN_PARENT);
        closeSync(fd);
        fd = next;
      }
      // No subdirectory leads back out of a mount, so checking the last one suffices.
      this.#checkMount(identityOf(fd));
      return fd;
    } catch (thrown) {
      closeSync(fd);
      throw thrown;
    }
  }

  /** Without descriptor paths the parent's real path must equal the expected one. */
  #checkedParent(parts: readonly string[]): string {
    if (!this.#isRoot(this.#now())) throw new Refused(REPLACED);
    const parent = parts.length === 0 ? this.#path : join(this.#path, ...parts);
    // fail-closed: a different real path means a link on the way.
    if (realpathSync(parent) !== parent) throw new Refused('a directory on the way is a link');
    this.#checkMount(statSync(parent, { bigint: true }));
    return parent;
  }

  #checkMount({ dev, mount }: Identity): void {
    // fail-closed: a mount below the root is not part of the workspace.
    if (dev !== this.#identity?.dev || mount !== this.#identity.mount) throw new Refused(MOUNTED);
  }

  #isRoot({ dev, ino }: Identity): boolean {
    return dev === this.#identity?.dev && ino === this.#identity.ino;
  }

  #now(): Identity {
    if (!hasDescriptorPaths()) {
      const { dev, ino } = lstatSync(this.#path, { bigint: true });
      return { dev, ino };
    }
    const fd = openSync(this.#path, OPEN_PARENT);
    try {
      return identityOf(fd);
    } finally {
      closeSync(fd);
    }
  }
}

function identityOf(fd: number): Identity {
  const { dev, ino } = fstatSync(fd, { bigint: true });
  return { dev, ino, mount: mountOf(fd) };
}

/** Bind mounts share the device and differ only in the mount id. */
function mountOf(fd: number): string | undefined {
  try {
    return /^mnt_id:\s*(\d+)/m.exec(readFileSync(`/proc/self/fdinfo/${fd}`, 'latin1'))?.[1];
  } catch {
    // Old kernels do not report it; the device has to suffice.
    return undefined;
  }
}

export function full(place: Place): string {
  return `${place.directory}/${place.name}`;
}

/** Changes whenever a file is saved; for a directory it is only the identity. */
export function stampOf(stat: BigIntStats): string {
  if (stat.isDirectory()) return `directory:${stat.dev}:${stat.ino}`;
  const kind = stat.isFile() ? 'file' : stat.isSymbolicLink() ? 'link' : 'special';
  const changed = stat.nlink > 1n ? ANY_TIME : stat.ctimeNs;
  return [kind, stat.dev, stat.ino, stat.size, stat.mtimeNs, changed].join(':');
}

/** Restoring one hard link changes the change time of the others, so it is ignored for files with several names. */
const ANY_TIME = '*';

function isSameStamp(stamp: string, now: string): boolean {
  if (!stamp.endsWith(ANY_TIME)) return stamp === now;
  const length = stamp.length - ANY_TIME.length;
  return now.slice(0, now.lastIndexOf(':') + 1) === stamp.slice(0, length);
}

/** fail-closed: content that changed since the check is not overwritten. */
export function requireStamp(place: Place, stamp: string | undefined): void {
  if (stamp === undefined) return;
  const stat = lstatSync(full(place), { bigint: true, throwIfNoEntry: false });
  const now = stat === undefined ? NOTHING : stampOf(stat);
  if (!isSameStamp(stamp, now)) throw new Refused(CHANGED);
}

const CHANGED = 'changed while it was being restored';

export function describeRestoreError(thrown: unknown): string {
  switch (systemCodeOf(thrown)) {
    case 'ENOENT':
      return 'its directory is not there';
    case 'ENOTDIR':
    case 'ELOOP':
      return 'a parent of the path is a link or a file, not a directory';
    case 'EACCES':
    case 'EPERM':
      return 'the system does not allow it';
    case 'ENOSPC':
    case 'EDQUOT':
      return 'the disk is full';
    case 'EROFS':
      return 'the disk is read-only';
    case 'EBUSY':
      return MOUNTED;
    case 'EISDIR':
    case 'ENOTEMPTY':
    case 'EEXIST':
      return 'a directory that is not empty is in its place';
    default:
      return thrown instanceof Refused ? thrown.message : `the system says: ${messageOf(thrown)}`;
  }
}
