import { closeSync, fstatSync, lstatSync, openSync, readlinkSync, realpathSync } from 'node:fs';
import { basename, dirname, isInside, join, relative, resolve } from '../../platform/fs/paths.js';
import { sha256 } from '../../platform/hash.js';
import type { NodeState } from '../types.js';
import { entryStat, READ_ONLY, readFully } from './tree.js';
import { full, NOTHING, type Place, Refused, stampOf } from './workspace-root.js';

/** The state of a path and a stamp that detects later changes. */
export interface PathSnapshot {
  readonly node: NodeState | undefined;
  readonly stamp: string;
}

const MODE_BITS = 0o7777;
const CHANGING = 'another process is writing to it';

/** The facts available without reading a file: the mode of directories, the kind of everything else. */
export type PeekedNode =
  | Extract<NodeState, { kind: 'directory' }>
  | { readonly kind: Exclude<NodeState['kind'], 'directory'> };

export function statPath(place: Place): PeekedNode | undefined {
  const stat = lstatSync(full(place), { throwIfNoEntry: false });
  if (stat === undefined) return undefined;
  const { kind, mode } = entryStat(stat);
  return kind === 'directory' ? { kind, mode } : { kind };
}

/** Does not read files over `maxBytes` and pauses for the event loop. */
export async function snapshotPath(place: Place, maxBytes: number): Promise<PathSnapshot> {
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
  const read = await readAll(place, maxBytes);
  if (read.stamp !== stamp) throw new Refused(CHANGING);
  return { node: { kind: 'file', size, mode, blob: sha256(read.bytes) }, stamp };
}

/** Reads a file and fails if it changes meanwhile. */
export async function readAll(
  place: Place,
  maxBytes: number,
): Promise<{ readonly bytes: Uint8Array; readonly stamp: string }> {
  const fd = openSync(full(place), READ_ONLY);
  try {
    const stat = fstatSync(fd, { bigint: true });
    if (!stat.isFile()) throw new Refused('it is no regular file');
    if (stat.size > maxBytes) throw new Refused('it is too large to be kept');
    const stamp = stampOf(stat);
    const bytes = await readFully(fd, Number(stat.size));
    // A growing or shrinking file is refused, because waiting might never end.
    if (bytes === undefined || stampOf(fstatSync(fd, { bigint: true })) !== stamp) {
      throw new Refused(CHANGING);
    }
    return { bytes, stamp };
  } finally {
    closeSync(fd);
  }
}

/** The target of a write: a path relative to the workspace root, or one outside. */
type WritePlace = { readonly inside: string } | { readonly outside: string };

/** Resolves links as a write would. `root` is a real path and the base of relative paths. */
export function resolveWriteTarget(root: string, path: string): WritePlace {
  const real = realPathOf(resolve(root, path));
  return real !== root && isInside(real, root)
    ? { inside: relative(root, real) }
    : { outside: real };
}

/** Resolves the nearest existing directory of a path that does not exist yet. */
function realPathOf(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    const parent = dirname(path);
    return parent === path ? path : join(realPathOf(parent), basename(path));
  }
}
