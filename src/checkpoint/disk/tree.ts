import {
  closeSync,
  constants,
  fstatSync,
  lstatSync,
  openSync,
  readlinkSync,
  readSync,
  realpathSync,
} from 'node:fs';
import { systemCodeOf } from '../../errors.js';
import { dirname, isInside, join, normalise, relative, resolve } from '../../platform/fs/paths.js';
import { nextTurn } from '../../platform/turns.js';
import { sameState } from '../journal/states.js';
import type { NodeState, NotStoredReason } from '../types.js';

/** The `lstat` facts of a path. */
export interface EntryStat {
  readonly kind: NodeState['kind'];
  readonly mode: number;
  readonly size: number;
  readonly ino: number;
  /** In milliseconds; programs cannot set the change time. */
  readonly ctime: number;
  readonly dev: number;
  /** The target of a link. */
  readonly target?: string;
}

/** A tracked path. */
export interface TreeNode {
  state: NodeState;
  stat: EntryStat;
  /** The SHA-256 last read, even when the content could not be stored. */
  hash?: string | undefined;
  /** It changed so shortly before it was read that a later change may have the same time. */
  isRacy: boolean;
  /** The number of the last walk that found it. */
  walk: number;
}

/** The tracked tree as last seen, by path relative to the root, which is ''. */
export type KnownTree = Map<string, TreeNode>;

/** Twice the tick of file system clocks, which is 4 to 10 ms. */
const RACY_MS = 20;
/** Some file systems truncate times to seconds. */
const SECOND_MS = 1_000;

/** Whether a later change could carry the same change time. */
export function isRacyTime(ctime: number, readAt: number): boolean {
  const tick = ctime % SECOND_MS === 0 ? SECOND_MS + RACY_MS : RACY_MS;
  return readAt - ctime < tick;
}

const KINDS = new Map<number, NodeState['kind']>([
  [constants.S_IFREG, 'file'],
  [constants.S_IFDIR, 'directory'],
  [constants.S_IFLNK, 'link'],
]);

/** The required fields of Node's `Stats`. */
type StatLike = Pick<EntryStat, 'mode' | 'size' | 'ino' | 'dev'> & { readonly ctimeMs: number };

export function entryStat({ mode, size, ino, ctimeMs, dev }: StatLike): EntryStat {
  const kind = KINDS.get(mode & constants.S_IFMT) ?? 'special';
  return { kind, mode: mode & 0o7777, size, ino, ctime: ctimeMs, dev };
}

export function isSameEntry({ stat: known }: TreeNode, stat: EntryStat): boolean {
  return (
    known.ctime === stat.ctime &&
    known.ino === stat.ino &&
    known.kind === stat.kind &&
    known.mode === stat.mode &&
    (stat.kind !== 'file' || known.size === stat.size)
  );
}

/** A node whose content was not read. */
export function nodeOf(stat: EntryStat, walk: number): TreeNode {
  return { state: stateOf(stat), stat, isRacy: false, walk };
}

function stateOf({ kind, size, mode, target = '' }: EntryStat): NodeState {
  switch (kind) {
    case 'file':
      return { kind, size, mode, unstored: 'not-yet' };
    case 'directory':
      return { kind, mode };
    case 'link':
      return { kind, target };
    case 'special':
      return { kind };
  }
}

/** Whether two states are equal for a reader; files with unknown content differ. */
export function isSameState(one: TreeNode, other: TreeNode): boolean {
  if (sameState(one.state, other.state)) return true;
  if (one.state.kind !== 'file' || other.state.kind !== 'file') return false;
  // The content was not stored for lack of space, but its hash is known.
  return one.stat.mode === other.stat.mode && one.hash !== undefined && one.hash === other.hash;
}

/** The parent directory; '' for the root. */
export function parentOf(path: string): string {
  return path.slice(0, Math.max(0, path.lastIndexOf('/')));
}

/** Undefined when the path does not exist. */
export function statOf(absolute: string): EntryStat | 'refused' | undefined {
  try {
    const stat = lstatSync(absolute, { throwIfNoEntry: false });
    return stat === undefined ? undefined : entryStat(stat);
  } catch (thrown) {
    return systemCodeOf(thrown) === 'ENOTDIR' ? undefined : 'refused';
  }
}

/** Reads a link's target; a link without a readable UTF-8 target becomes `special`, because it cannot be restored. */
export function withTarget(absolute: string, stat: EntryStat): EntryStat {
  if (stat.kind !== 'link') return stat;
  try {
    const bytes = readlinkSync(absolute, { encoding: 'buffer' });
    const target = bytes.toString('utf8');
    if (Buffer.from(target).equals(bytes)) return { ...stat, target };
  } catch {
    // The link falls through to `special`.
  }
  return { ...stat, kind: 'special' };
}

/** The facts of a path inside the tree; undefined when it is missing or reached through a link. */
export function statInside(root: string, path: string): EntryStat | undefined {
  const absolute = join(root, path);
  try {
    // fail-closed: a link among the directories may lead out of the tree.
    const directory = dirname(absolute);
    if (directory !== root && realpathSync(directory) !== directory) return undefined;
  } catch {
    return undefined;
  }
  const stat = statOf(absolute);
  return stat === undefined || stat === 'refused' ? undefined : withTarget(absolute, stat);
}

/** Makes a path relative to the root, which has two spellings; relative input starts at the first. */
export function pathInside(roots: readonly [string, string], path: string): string | undefined {
  const given = normalise(resolve(roots[0], path));
  const base = roots.find((one) => isInside(given, one));
  const way = base === undefined ? '' : relative(base, given);
  // fail-closed: git's own files are never restored.
  return way === '' || way.split('/').includes('.git') ? undefined : way;
}

export function realOrSame(path: string): string {
  try {
    return realpathSync(resolve(path));
  } catch {
    return resolve(path);
  }
}

/** Opens neither links nor blocks on a pipe that replaced the file. */
export const READ_ONLY =
  constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0) | (constants.O_NONBLOCK ?? 0);
/** The bytes read between two pauses for the event loop. */
const STRETCH_BYTES = 4 * 1024 * 1024;

/** Reads a file only if it matches `seen` before and after; otherwise returns the reason. */
export async function readSteady(
  path: string,
  seen: EntryStat,
  maxBytes: number,
): Promise<{ readonly bytes: Buffer; readonly isRacy: boolean } | NotStoredReason> {
  if (seen.size > maxBytes) return 'too-large';
  let fd: number;
  try {
    fd = openSync(path, READ_ONLY);
  } catch {
    return statOf(path) === undefined ? 'changed-while-read' : 'unreadable';
  }
  try {
    // fail-closed: bytes of a changed file are not used.
    if (!isStill(fd, seen)) return 'changed-while-read';
    const bytes = await readFully(fd, seen.size);
    const isRacy = isRacyTime(seen.ctime, Date.now());
    return bytes === undefined || !isStill(fd, seen) ? 'changed-while-read' : { bytes, isRacy };
  } catch {
    return 'unreadable';
  } finally {
    closeSync(fd);
  }
}

/** The first `size` bytes of an open file, or undefined when it is shorter; pauses for the event loop. */
export async function readFully(fd: number, size: number): Promise<Buffer | undefined> {
  const bytes = Buffer.allocUnsafe(size);
  for (let done = 0; done < size; ) {
    const count = readSync(fd, bytes, done, Math.min(size - done, STRETCH_BYTES), done);
    if (count === 0) return undefined;
    done += count;
    if (done < size) await nextTurn();
  }
  return bytes;
}

function isStill(fd: number, seen: EntryStat): boolean {
  const { kind, ino, ctime, size } = entryStat(fstatSync(fd));
  return kind === 'file' && ino === seen.ino && ctime === seen.ctime && size === seen.size;
}
