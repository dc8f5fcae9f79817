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
import type { NodeState, Unstored } from '../types.js';

/** What the file system says about a path without opening it. */
export interface EntryStat {
  readonly kind: NodeState['kind'];
  /** Permission bits only. */
  readonly mode: number;
  readonly size: number;
  readonly ino: number;
  /** Change time in milliseconds: the one time that no program can set. */
  readonly ctime: number;
  readonly dev: number;
  /** Of a link. */
  readonly target?: string;
}

/** A path that is known. */
export interface TreeNode {
  state: NodeState;
  stat: EntryStat;
  /** SHA-256 of the bytes that were read last, also where they could not be stored. */
  hash?: string | undefined;
  /** It changed so shortly before it was read that a later change may carry the same time. */
  isRacy: boolean;
  /** Number of the last walk that came upon it. */
  walk: number;
}

/** The tree as it was last seen, by paths from its root, which is ''. Holds only what is tracked. */
export type KnownTree = Map<string, TreeNode>;

/** Time stamps come from a clock that ticks every 4 to 10 ms; twice that, to be safe. */
const RACY_MS = 20;
/** What some file systems cut all stamps down to. */
const SECOND_MS = 1_000;

/** Whether what bore this change time when it was read may change after that and bear it still. */
export function isRacyTime(ctime: number, readAt: number): boolean {
  const tick = ctime % SECOND_MS === 0 ? SECOND_MS + RACY_MS : RACY_MS;
  return readAt - ctime < tick;
}

const KINDS = new Map<number, NodeState['kind']>([
  [constants.S_IFREG, 'file'],
  [constants.S_IFDIR, 'directory'],
  [constants.S_IFLNK, 'link'],
]);

/** The part of Node's `Stats` that counts. */
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

/** A node that was only looked at. */
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

/** Whether nothing has changed for anybody who reads it. Files whose bytes are not known differ. */
export function isSameState(one: TreeNode, other: TreeNode): boolean {
  if (sameState(one.state, other.state)) return true;
  if (one.state.kind !== 'file' || other.state.kind !== 'file') return false;
  // There was no room for its bytes.
  return one.stat.mode === other.stat.mode && one.hash !== undefined && one.hash === other.hash;
}

/** The directory that a path stands in; '' for the root. */
export function parentOf(path: string): string {
  return path.slice(0, Math.max(0, path.lastIndexOf('/')));
}

/** Undefined: nothing is there. */
export function statOf(absolute: string): EntryStat | 'refused' | undefined {
  try {
    const stat = lstatSync(absolute, { throwIfNoEntry: false });
    return stat === undefined ? undefined : entryStat(stat);
  } catch (thrown) {
    return systemCodeOf(thrown) === 'ENOTDIR' ? undefined : 'refused';
  }
}

/** A link whose target is no text, or has gone meanwhile, cannot be put back: it is named only. */
export function withTarget(absolute: string, stat: EntryStat): EntryStat {
  if (stat.kind !== 'link') return stat;
  try {
    const bytes = readlinkSync(absolute, { encoding: 'buffer' });
    const target = bytes.toString('utf8');
    if (Buffer.from(target).equals(bytes)) return { ...stat, target };
  } catch {
    // Told below.
  }
  return { ...stat, kind: 'special' };
}

/** What stands at a path of a tree. Undefined: nothing, or the way to it leads out of the tree. */
export function statInside(root: string, path: string): EntryStat | undefined {
  const absolute = join(root, path);
  try {
    // fail-closed: a path with a link among its directories may lead out of the tree.
    const directory = dirname(absolute);
    if (directory !== root && realpathSync(directory) !== directory) return undefined;
  } catch {
    return undefined;
  }
  const stat = statOf(absolute);
  return stat === undefined || stat === 'refused' ? undefined : withTarget(absolute, stat);
}

/** From the root, which may be known by several paths; a path is taken from the first of them. */
export function pathInside(roots: readonly [string, string], path: string): string | undefined {
  const given = normalise(resolve(roots[0], path));
  const base = roots.find((one) => isInside(given, one));
  const way = base === undefined ? '' : relative(base, given);
  // fail-closed: git's own files are nobody's to put back.
  return way === '' || way.split('/').includes('.git') ? undefined : way;
}

export function realOrSame(path: string): string {
  try {
    return realpathSync(resolve(path));
  } catch {
    return resolve(path);
  }
}

/** Never a link's target, and never the wait for a pipe that took the file's place. */
export const READ_ONLY =
  constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0) | (constants.O_NONBLOCK ?? 0);
/** What is read between two turns of everybody else. */
const STRETCH_BYTES = 4 * 1024 * 1024;

/** The bytes of a file, if it is still what was seen at this path and stays so while it is read; else why not. */
export async function readSteady(
  path: string,
  seen: EntryStat,
  maxBytes: number,
): Promise<{ readonly bytes: Buffer; readonly isRacy: boolean } | Unstored> {
  if (seen.size > maxBytes) return 'too-large';
  let fd: number;
  try {
    fd = openSync(path, READ_ONLY);
  } catch {
    return statOf(path) === undefined ? 'changed-while-read' : 'unreadable';
  }
  try {
    // fail-closed: bytes of anything but what was seen are not taken for its.
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

/** The first `size` bytes of an open file; undefined where it has fewer. Others have their turn meanwhile. */
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
