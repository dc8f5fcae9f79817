import type { FileStat } from '../../platform/fs/fs.js';
import { sha1 } from '../../platform/hash.js';
import type { FileVersion, ReadState } from '../tool.js';

export interface CloneableReadState extends ReadState {
  /** A copy for a subagent that starts from what its parent has seen; the two go separate ways. */
  clone(): CloneableReadState;
}

export function createReadState(seen: Iterable<readonly [string, Entry]> = []): CloneableReadState {
  const files = new Map<string, Entry>(seen);
  return {
    note(path, version) {
      files.set(path, merged(files.get(path), version));
    },
    get: (path) => files.get(path)?.version,
    clone: () => createReadState(files),
  };
}

/** The version of a file from its stat and content. `part` says that only those lines were shown. */
export function versionOf(
  stat: Pick<FileStat, 'mtimeMs' | 'size'>,
  bytes: Uint8Array,
  shown: { whole?: boolean; part?: FileVersion['part'] } = {},
): FileVersion {
  const { part } = shown;
  const { mtimeMs, size } = stat;
  const whole = shown.whole ?? part === undefined;
  const version = { mtimeMs, size, hash: sha1(bytes), whole };
  return part === undefined ? version : { ...version, part };
}

/** The version of a file too large to hash; time and size alone decide. */
export function unhashedVersion(stat: Pick<FileStat, 'mtimeMs' | 'size'>): FileVersion {
  return { mtimeMs: stat.mtimeMs, size: stat.size, hash: '', whole: false };
}

/**
 * Whether the file still is what was seen. The content decides where it was hashed: a change within
 * one tick of the file system's clock that keeps the size is seen, a mere `touch` is no change.
 */
export function isSameVersion(
  seen: FileVersion,
  now: { stat: Pick<FileStat, 'mtimeMs' | 'size'>; bytes: Uint8Array },
): boolean {
  if (seen.hash !== '') return sha1(now.bytes) === seen.hash;
  return seen.mtimeMs === now.stat.mtimeMs && seen.size === now.stat.size;
}

type Span = readonly [from: number, to: number];

interface Entry {
  readonly version: FileVersion;
  /** Lines seen so far of this very content, apart and in order. */
  readonly spans: readonly Span[];
}

/** Parts of one and the same content add up; once they cover it, the whole was seen. */
function merged(before: Entry | undefined, version: FileVersion): Entry {
  const same = before !== undefined && version.hash !== '' && before.version.hash === version.hash;
  const known = same ? before.spans : [];
  const spans = version.part === undefined ? known : union(known, version.part);
  const whole =
    version.whole ||
    (same && before.version.whole) ||
    (version.part !== undefined && covers(spans, version.part.total));
  return { version: whole === version.whole ? version : { ...version, whole }, spans };
}

function union(spans: readonly Span[], part: { from: number; to: number }): readonly Span[] {
  let [from, to] = [part.from, part.to];
  const apart: Span[] = [];
  for (const span of spans) {
    if (span[1] < from - 1 || span[0] > to + 1) apart.push(span);
    else [from, to] = [Math.min(from, span[0]), Math.max(to, span[1])];
  }
  return [...apart, [from, to] as const].sort((a, b) => a[0] - b[0]);
}

function covers(spans: readonly Span[], total: number): boolean {
  const first = spans[0];
  return spans.length === 1 && first !== undefined && first[0] <= 1 && first[1] >= total;
}
