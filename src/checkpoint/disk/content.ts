import { closeSync, constants, fstatSync, openSync, readSync, realpathSync } from 'node:fs';
import { nextTurn } from '../../platform/turns.js';
import type { NodeState } from '../types.js';
import { type EntryStat, entryStat, isRacyTime } from './known-tree.js';

type Unstored = (NodeState & { kind: 'file' })['unstored'];

export type FileContent =
  | { readonly kind: 'bytes'; readonly bytes: Buffer; readonly isRacy: boolean }
  | { readonly kind: 'none'; readonly why: Unstored };

/** Never a link's target, and never the wait for a pipe that took the file's place. */
const FLAGS = constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0) | (constants.O_NONBLOCK ?? 0);
/** What is read between two turns of everybody else. */
const STRETCH_BYTES = 4 * 1024 * 1024;

/** The bytes of a file, if it is still what was seen at this path and stays so while it is read. */
export async function readSteady(
  path: string,
  seen: Pick<EntryStat, 'ino' | 'ctime' | 'size'>,
  maxBytes: number,
): Promise<FileContent> {
  if (seen.size > maxBytes) return { kind: 'none', why: 'too-large' };
  let fd: number;
  try {
    fd = openSync(path, FLAGS);
  } catch {
    return { kind: 'none', why: reasonAt(path) };
  }
  try {
    // fail-closed: bytes of anything but what was seen are not taken for its.
    if (!isStill(fd, seen)) return { kind: 'none', why: 'changed-while-read' };
    const bytes = await readFully(fd, seen.size);
    const readAt = Date.now();
    if (bytes === undefined || !isStill(fd, seen)) {
      return { kind: 'none', why: 'changed-while-read' };
    }
    return { kind: 'bytes', bytes, isRacy: isRacyTime(seen.ctime, readAt) };
  } catch {
    return { kind: 'none', why: 'unreadable' };
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

function reasonAt(path: string): Unstored {
  try {
    realpathSync(path);
    return 'unreadable';
  } catch {
    return 'changed-while-read';
  }
}

function isStill(fd: number, seen: Pick<EntryStat, 'ino' | 'ctime' | 'size'>): boolean {
  const now = entryStat(fstatSync(fd));
  return (
    now.kind === 'file' &&
    now.ino === seen.ino &&
    now.ctime === seen.ctime &&
    now.size === seen.size
  );
}
