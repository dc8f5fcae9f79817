import {
  chmodSync,
  closeSync,
  constants,
  existsSync,
  fchmodSync,
  fchownSync,
  fstatSync,
  fsyncSync,
  lstatSync,
  mkdirSync,
  openSync,
  readdirSync,
  readlinkSync,
  readSync,
  realpathSync,
  renameSync,
  rmdirSync,
  type Stats,
  symlinkSync,
  unlinkSync,
  writeSync,
} from 'node:fs';
import { messageOf, systemCodeOf } from '../errors.js';
import { err, ok, type Result } from '../util/result.js';
import { cryptography } from './builtins.js';
import { dirname, join } from './paths.js';

/** What stands at a path now. `blob` is the SHA-256 of a file's bytes. */
export type FoundNode =
  | {
      readonly kind: 'file';
      readonly size: number;
      readonly mode: number;
      readonly blob: string;
    }
  | { readonly kind: 'directory'; readonly mode: number }
  | { readonly kind: 'link'; readonly target: string }
  | { readonly kind: 'special' };

/** How a file or a link is put in its place: under another name first, so that nobody sees half of it. */
export interface DraftName {
  /** A name in the same directory that nothing else has. */
  readonly draft: string;
}

/**
 * The one thing that writes into a workspace for a rewind. Paths are relative to its root. No link is
 * ever followed, neither at the end of a path nor on the way: what leads out of the root is an error.
 * Each step may be repeated. A failure is words for a person.
 */
export interface RewindFiles {
  /** Undefined: nothing stands there, or it is only reached through a link. */
  find(path: string): Result<FoundNode | undefined, string>;
  read(path: string): Result<Uint8Array, string>;
  /** Names in a directory. */
  list(path: string): Result<readonly string[], string>;
  /** A file, a link or an empty directory. Nothing there: done already. */
  remove(path: string): Result<'done' | 'not-empty', string>;
  makeDirectory(path: string, mode: number): Result<'done', string>;
  setMode(path: string, mode: number): Result<'done', string>;
  writeFile(
    path: string,
    bytes: Uint8Array,
    options: DraftName & { readonly mode: number },
  ): Result<'done', string>;
  makeLink(path: string, target: string, options: DraftName): Result<'done', string>;
  /** Takes away a draft that a killed program has left. */
  dropDraft(path: string, draft: string): void;
}

export function openRewindFiles(root: string): RewindFiles {
  const on = <T>(path: string, work: (place: Place) => T): Result<T, string> => {
    try {
      return ok(atPlace(root, path, work));
    } catch (thrown) {
      return err(wordsFor(thrown));
    }
  };
  return {
    find: (path) => findAt(root, path),
    read: (path) => on(path, readAll),
    list: (path) => on(path, (place) => readdirSync(openedDirectory(place)).sort()),
    remove: (path) => on(path, removeAt),
    makeDirectory: (path, mode) => on(path, (place) => makeDirectoryAt(place, mode)),
    setMode: (path, mode) => on(path, (place) => setModeAt(place, mode)),
    writeFile: (path, bytes, options) => on(path, (place) => writeFileAt(place, bytes, options)),
    makeLink: (path, target, options) => on(path, (place) => makeLinkAt(place, target, options)),
    dropDraft(path, draft) {
      // Nothing there is what is wanted; one that cannot be taken away does no harm where it is.
      on(path, (place) => dropDraftAt(place, draft));
    },
  };
}

/** Whether a path may be touched at all: relative, without ways out, and no part of git's own data. */
export function isRewindablePath(path: string): boolean {
  if (path === '' || path.startsWith('/') || path.includes('\0')) return false;
  // fail-closed: a name that is no valid text cannot be told from others like it.
  if (path.includes('\uFFFD')) return false;
  return path
    .split('/')
    .every((part) => part !== '' && part !== '.' && part !== '..' && part.toLowerCase() !== '.git');
}

/** A directory that is surely inside the root, and a name in it. */
interface Place {
  /** Path of the directory by which the system finds it without following any link on the way. */
  readonly directory: string;
  readonly name: string;
}

class Refused extends Error {}

const NO_FOLLOW = constants.O_NOFOLLOW ?? 0;
/** Linux: a descriptor that only names a thing. It needs no permission to read it. */
const PATH_ONLY = 0o10000000;
const OPEN_PARENT = PATH_ONLY | (constants.O_DIRECTORY ?? 0) | NO_FOLLOW;
const MODE_BITS = 0o7777;
const CHUNK_BYTES = 1 << 20;
let hasDescriptorPaths: boolean | undefined;

function atPlace<T>(root: string, path: string, work: (place: Place) => T): T {
  if (!isRewindablePath(path)) throw new Refused('the path leads out of the workspace');
  const parts = path.split('/');
  const name = parts.pop() ?? '';
  hasDescriptorPaths ??= process.platform === 'linux' && existsSync('/proc/self/fd');
  if (!hasDescriptorPaths) return work({ directory: checkedParent(root, parts), name });
  const fd = openParent(root, parts);
  try {
    return work({ directory: `/proc/self/fd/${fd}`, name });
  } finally {
    closeSync(fd);
  }
}

/** One directory after the other, each by the descriptor of the one before: a link in between stops it. */
function openParent(root: string, parts: readonly string[]): number {
  let fd = openSync(root, OPEN_PARENT);
  for (const part of parts) {
    let next: number;
    try {
      next = openSync(`/proc/self/fd/${fd}/${part}`, OPEN_PARENT);
    } catch (thrown) {
      closeSync(fd);
      throw thrown;
    }
    closeSync(fd);
    fd = next;
  }
  return fd;
}

/** Where there are no such descriptors: the real path of the parent has to be the expected one. */
function checkedParent(root: string, parts: readonly string[]): string {
  const parent = parts.length === 0 ? root : join(root, ...parts);
  // fail-closed: another real path means a link on the way, wherever it leads.
  if (realpathSync(parent) !== parent) throw new Refused('a directory on the way is a link');
  return parent;
}

function full(place: Place): string {
  return `${place.directory}/${place.name}`;
}

function findAt(root: string, path: string): Result<FoundNode | undefined, string> {
  try {
    return ok(atPlace(root, path, nodeAt));
  } catch (thrown) {
    const code = systemCodeOf(thrown);
    if (code === 'ENOENT' || code === 'ENOTDIR' || code === 'ELOOP') return ok(undefined);
    return err(wordsFor(thrown));
  }
}

function nodeAt(place: Place): FoundNode | undefined {
  const stat = lstatSync(full(place), { throwIfNoEntry: false });
  if (stat === undefined) return undefined;
  if (stat.isSymbolicLink()) return { kind: 'link', target: readlinkSync(full(place)) };
  if (stat.isDirectory()) return { kind: 'directory', mode: stat.mode & MODE_BITS };
  if (!stat.isFile()) return { kind: 'special' };
  const hash = cryptography().createHash('sha256');
  let size = 0;
  const now = eachChunk(place, (chunk) => {
    hash.update(chunk);
    size += chunk.length;
  });
  return { kind: 'file', size, mode: now.mode & MODE_BITS, blob: hash.digest('hex') };
}

function readAll(place: Place): Uint8Array {
  const chunks: Uint8Array[] = [];
  eachChunk(place, (chunk) => chunks.push(Uint8Array.from(chunk)));
  return Buffer.concat(chunks);
}

/** Not waiting: a pipe that somebody put there must not hold us. */
const READ_FLAGS = constants.O_RDONLY | NO_FOLLOW | (constants.O_NONBLOCK ?? 0);

function eachChunk(place: Place, take: (chunk: Buffer) => void): Stats {
  const fd = openSync(full(place), READ_FLAGS);
  try {
    const stat = fstatSync(fd);
    if (!stat.isFile()) throw new Refused('it is no regular file');
    const chunk = Buffer.allocUnsafe(Math.min(CHUNK_BYTES, Math.max(1, stat.size + 1)));
    for (;;) {
      const count = readSync(fd, chunk, 0, chunk.length, null);
      if (count === 0) return stat;
      take(chunk.subarray(0, count));
    }
  } finally {
    closeSync(fd);
  }
}

function openedDirectory(place: Place): string {
  // fail-closed: a link to a directory would list what is elsewhere.
  if (!lstatSync(full(place)).isDirectory()) throw new Refused('it is no directory');
  return full(place);
}

function removeAt(place: Place): 'done' | 'not-empty' {
  const stat = lstatSync(full(place), { throwIfNoEntry: false });
  if (stat === undefined) return 'done';
  if (!stat.isDirectory()) {
    if (!stat.isFile() && !stat.isSymbolicLink()) throw new Refused('it is no regular file');
    unlinkSync(full(place));
    return 'done';
  }
  try {
    rmdirSync(full(place));
    return 'done';
  } catch (thrown) {
    const code = systemCodeOf(thrown);
    if (code === 'ENOTEMPTY' || code === 'EEXIST') return 'not-empty';
    throw thrown;
  }
}

function makeDirectoryAt(place: Place, mode: number): 'done' {
  try {
    mkdirSync(full(place), mode);
  } catch (thrown) {
    if (systemCodeOf(thrown) !== 'EEXIST') throw thrown;
  }
  return setModeAt(place, mode);
}

/** Through a descriptor, so that a link that is put there meanwhile is not followed. */
function setModeAt(place: Place, mode: number): 'done' {
  if (hasDescriptorPaths !== true) {
    if (lstatSync(full(place)).isSymbolicLink()) throw new Refused('it is a link');
    chmodSync(full(place), mode);
    return 'done';
  }
  const fd = openSync(full(place), PATH_ONLY | NO_FOLLOW);
  try {
    const stat = fstatSync(fd);
    if (!stat.isFile() && !stat.isDirectory()) throw new Refused('it is no file or directory');
    chmodSync(`/proc/self/fd/${fd}`, mode);
    return 'done';
  } finally {
    closeSync(fd);
  }
}

const DRAFT_FLAGS = constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | NO_FOLLOW;

function writeFileAt(
  place: Place,
  bytes: Uint8Array,
  { draft, mode }: DraftName & { readonly mode: number },
): 'done' {
  dropDraftAt(place, draft);
  const name = `${place.directory}/${draft}`;
  const old = lstatSync(full(place), { throwIfNoEntry: false });
  const fd = openSync(name, DRAFT_FLAGS, 0o600);
  try {
    for (let at = 0; at < bytes.length; ) at += writeSync(fd, bytes, at);
    if (old?.isFile()) keepOwner(fd, old);
    fchmodSync(fd, mode);
    fsyncSync(fd);
  } catch (thrown) {
    dropDraftAt(place, draft);
    throw thrown;
  } finally {
    closeSync(fd);
  }
  return moveDraft(place, draft);
}

/** Whoever runs as another user than the owner would otherwise take the file away from them. */
function keepOwner(fd: number, old: Stats): void {
  const now = fstatSync(fd);
  if (now.uid === old.uid && now.gid === old.gid) return;
  try {
    fchownSync(fd, old.uid, old.gid);
  } catch {
    // Only the superuser may give files away; the bytes and the mode are what was asked for.
  }
}

function makeLinkAt(place: Place, target: string, { draft }: DraftName): 'done' {
  dropDraftAt(place, draft);
  symlinkSync(target, `${place.directory}/${draft}`);
  return moveDraft(place, draft);
}

function moveDraft(place: Place, draft: string): 'done' {
  try {
    renameSync(`${place.directory}/${draft}`, full(place));
    return 'done';
  } catch (thrown) {
    dropDraftAt(place, draft);
    throw thrown;
  }
}

function dropDraftAt(place: Place, draft: string): void {
  try {
    unlinkSync(`${place.directory}/${draft}`);
  } catch (thrown) {
    if (systemCodeOf(thrown) !== 'ENOENT') throw thrown;
  }
}

function wordsFor(thrown: unknown): string {
  switch (systemCodeOf(thrown)) {
    case 'ENOENT':
      return 'its directory is not there';
    case 'ENOTDIR':
    case 'ELOOP':
      return 'a link or a file stands where a directory on the way is expected';
    case 'EACCES':
    case 'EPERM':
      return 'the system does not allow it';
    case 'ENOSPC':
    case 'EDQUOT':
      return 'the disk is full';
    case 'EROFS':
      return 'the disk is read-only';
    case 'EISDIR':
    case 'ENOTEMPTY':
    case 'EEXIST':
      return 'a directory that is not empty stands there';
    default:
      return thrown instanceof Refused ? thrown.message : `the system says: ${messageOf(thrown)}`;
  }
}

/** For callers that name the parents of a path. */
export function parentOf(path: string): string | undefined {
  const parent = dirname(path);
  return parent === '.' || parent === '' || parent === '/' ? undefined : parent;
}
