import { createHash } from 'node:crypto';
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
import { basename, dirname, isInside, join, relative, resolve } from '../../platform/fs/paths.js';
import { Turns } from '../../platform/turns.js';
import { full, NO_FOLLOW, NOTHING, type Place, Refused, stampOf } from './workspace-root.js';

/** What stands at a path now. `blob` is the SHA-256 of a file's bytes. */
export type FoundNode =
  | {
      readonly kind: 'file';
      readonly size: number;
      readonly mode: number;
      /** Absent: it was not read, see `unstored`. */
      readonly blob?: string;
      readonly unstored?: 'too-large';
    }
  | { readonly kind: 'directory'; readonly mode: number }
  | { readonly kind: 'link'; readonly target: string }
  | { readonly kind: 'special' };

/** What stands at a path, and by what it is known again. */
export interface Sighting {
  readonly node: FoundNode | undefined;
  readonly stamp: string;
}

/** What can be told without reading a file. */
export type PeekedNode =
  | { readonly kind: 'directory'; readonly mode: number }
  | { readonly kind: 'file' | 'link' | 'special' };

const MODE_BITS = 0o7777;
const CHUNK_BYTES = 1 << 20;
/** Not waiting: a pipe that somebody put there must not hold us. */
const READ_FLAGS = constants.O_RDONLY | NO_FOLLOW | (constants.O_NONBLOCK ?? 0);
const CHANGING = 'somebody writes to it at this moment';

export function peekAt(place: Place): PeekedNode | undefined {
  const stat = lstatSync(full(place), { throwIfNoEntry: false });
  if (stat === undefined) return undefined;
  if (stat.isDirectory()) return { kind: 'directory', mode: stat.mode & MODE_BITS };
  return { kind: stat.isFile() ? 'file' : stat.isSymbolicLink() ? 'link' : 'special' };
}

/** Files of more than `maxBytes` are not read. Others wait no longer than for a short stretch of it. */
export async function seeAt(place: Place, maxBytes: number): Promise<Sighting> {
  const stat = lstatSync(full(place), { bigint: true, throwIfNoEntry: false });
  if (stat === undefined) return { node: undefined, stamp: NOTHING };
  const stamp = stampOf(stat);
  if (stat.isSymbolicLink()) {
    return { node: { kind: 'link', target: readlinkSync(full(place)) }, stamp };
  }
  const mode = Number(stat.mode) & MODE_BITS;
  if (stat.isDirectory()) return { node: { kind: 'directory', mode }, stamp };
  if (!stat.isFile()) return { node: { kind: 'special' }, stamp };
  const size = Number(stat.size);
  if (size > maxBytes) return { node: { kind: 'file', size, mode, unstored: 'too-large' }, stamp };
  const hash = createHash('sha256');
  const read = await eachChunk(place, maxBytes, (chunk) => hash.update(chunk));
  if (read !== stamp) throw new Refused(CHANGING);
  return { node: { kind: 'file', size, mode, blob: hash.digest('hex') }, stamp };
}

export async function readAll(place: Place, maxBytes: number): Promise<Uint8Array> {
  const chunks: Uint8Array[] = [];
  await eachChunk(place, maxBytes, (chunk) => chunks.push(Uint8Array.from(chunk)));
  return Buffer.concat(chunks);
}

/** Gives the stamp of what was read: it is the same before and after. */
async function eachChunk(
  place: Place,
  maxBytes: number,
  take: (chunk: Buffer) => void,
): Promise<string> {
  const fd = openSync(full(place), READ_FLAGS);
  try {
    const stat = fstatSync(fd, { bigint: true });
    if (!stat.isFile()) throw new Refused('it is no regular file');
    if (stat.size > maxBytes) throw new Refused('it is too large to be kept');
    const size = Number(stat.size);
    const turns = new Turns();
    const chunk = Buffer.allocUnsafe(Math.min(CHUNK_BYTES, size + 1));
    let done = 0;
    for (;;) {
      const count = readSync(fd, chunk, 0, chunk.length, null);
      if (count === 0) break;
      done += count;
      // One that grows has no end that could be waited for.
      if (done > size) throw new Refused(CHANGING);
      take(chunk.subarray(0, count));
      await turns.pause();
    }
    const stamp = stampOf(stat);
    if (stampOf(fstatSync(fd, { bigint: true })) !== stamp) throw new Refused(CHANGING);
    return stamp;
  } finally {
    closeSync(fd);
  }
}

/** Where a write to a path ends up: a path from the root of the workspace, or one outside of it. */
type WritePlace = { readonly inside: string } | { readonly outside: string };

/**
 * Follows the links of a path as a write to it would. `root` is a real path; a relative path starts there.
 */
export function writePlaceOf(root: string, path: string): WritePlace {
  const real = realPathOf(resolve(root, path));
  return real !== root && isInside(real, root)
    ? { inside: relative(root, real) }
    : { outside: real };
}

/** What does not exist yet is below the nearest directory that does. */
function realPathOf(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    const parent = dirname(path);
    return parent === path ? path : join(realPathOf(parent), basename(path));
  }
}
