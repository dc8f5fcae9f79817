import type { EntryKind, EntryStat } from './tree-node.js';
import { Turns } from './turns.js';

/**
 * What `find` prints for an entry. A path is never empty and never holds a NUL, so that two NULs in a row
 * stand only between records.
 */
export const RECORD_FORMAT = '%p\\0%y %m %s %i %C@ %D %l\\0\\0';
const BETWEEN = Buffer.from('\0\0');

export interface FoundRecord {
  /** From the root. Undefined: its name is no text. */
  readonly path: string | undefined;
  /** The same, or what can be made of it. */
  readonly shown: string;
  readonly stat: EntryStat;
}

export interface RecordDifference {
  /** Entries that are new, differ, or stand elsewhere in the output. */
  readonly changed: readonly FoundRecord[];
  /** Paths that the new output does not have. */
  readonly gone: readonly string[];
}

/** Goes through all records of an output. */
export function* readRecords(output: Buffer): Iterable<FoundRecord> {
  for (let at = 0; at < output.length; ) {
    const end = recordEnd(output, at);
    yield parseRecord(output, at, end);
    at = end;
  }
}

/** Takes time for what differs, in short stretches; what is the same is compared as bytes. */
export async function compareOutputs(
  old: Buffer,
  now: Buffer,
  turns = new Turns(),
): Promise<RecordDifference> {
  const changed: FoundRecord[] = [];
  const present = new Set<string>();
  const missing = new Set<string>();
  let oldAt = 0;
  let nowAt = 0;
  let count = 0;
  const breathe = async (): Promise<void> => {
    if (++count % CLOCK_EVERY === 0) await turns.pause();
  };
  const tell = async (from: number, to: number): Promise<void> => {
    for (let at = from; at < to; at = recordEnd(now, at)) {
      present.add(keyAt(now, at));
      changed.push(parseRecord(now, at, recordEnd(now, at)));
      await breathe();
    }
  };
  const miss = async (from: number, to: number): Promise<void> => {
    for (let at = from; at < to; at = recordEnd(old, at)) {
      missing.add(keyAt(old, at));
      await breathe();
    }
  };
  for (;;) {
    const same = sameBytes(old, oldAt, now, nowAt);
    const start = same === 0 ? 0 : recordStart(now, nowAt, nowAt + same) - nowAt;
    oldAt += start;
    nowAt += start;
    if (oldAt >= old.length || nowAt >= now.length) break;
    const meeting =
      keyAt(old, oldAt) === keyAt(now, nowAt)
        ? { oldAt: recordEnd(old, oldAt), nowAt: recordEnd(now, nowAt) }
        : await nextMeeting(old, oldAt, now, nowAt, breathe);
    await miss(oldAt, meeting.oldAt);
    await tell(nowAt, meeting.nowAt);
    ({ oldAt, nowAt } = meeting);
  }
  await miss(oldAt, old.length);
  await tell(nowAt, now.length);
  const gone = [...missing].filter((key) => !present.has(key)).map(pathOfKey);
  return { changed, gone };
}

/** The next records of the same path, where both outputs go on together. */
async function nextMeeting(
  old: Buffer,
  oldFrom: number,
  now: Buffer,
  nowFrom: number,
  breathe: () => Promise<void>,
): Promise<{ oldAt: number; nowAt: number }> {
  const inOld = new Map<string, number>();
  const inNow = new Map<string, number>();
  let oldAt = oldFrom;
  let nowAt = nowFrom;
  while (oldAt < old.length || nowAt < now.length) {
    if (oldAt < old.length) {
      const key = keyAt(old, oldAt);
      const met = inNow.get(key);
      if (met !== undefined) return { oldAt, nowAt: met };
      inOld.set(key, oldAt);
      oldAt = recordEnd(old, oldAt);
    }
    if (nowAt < now.length) {
      const key = keyAt(now, nowAt);
      const met = inOld.get(key);
      if (met !== undefined) return { oldAt: met, nowAt };
      inNow.set(key, nowAt);
      nowAt = recordEnd(now, nowAt);
    }
    await breathe();
  }
  return { oldAt, nowAt };
}

/** How many records are read between two looks at the clock. */
const CLOCK_EVERY = 64;
const LARGEST_STEP = 64 * 1024;

/** How many bytes are the same from two places on. */
function sameBytes(one: Buffer, oneAt: number, other: Buffer, otherAt: number): number {
  const length = Math.min(one.length - oneAt, other.length - otherAt);
  let same = 0;
  let step = LARGEST_STEP;
  while (same < length) {
    const size = Math.min(step, length - same);
    const from = otherAt + same;
    const own = oneAt + same;
    if (one.compare(other, from, from + size, own, own + size) === 0) same += size;
    else if (size === 1) return same;
    else step = size >> 1;
  }
  return same;
}

/** Where the record begins that the byte at `at` belongs to; not before `from`, which begins one. */
function recordStart(output: Buffer, from: number, at: number): number {
  if (at >= output.length) return output.length;
  // The last byte of a record may be the one that differs.
  const before = output.subarray(from, at).lastIndexOf(BETWEEN);
  return before === -1 ? from : from + before + BETWEEN.length;
}

function recordEnd(output: Buffer, at: number): number {
  const end = output.indexOf(BETWEEN, at);
  return end === -1 ? output.length : end + BETWEEN.length;
}

/** The path as it stands in the output, one character for each byte. */
function keyAt(output: Buffer, at: number): string {
  return output.toString('latin1', at, output.indexOf(0, at));
}

function pathOfKey(key: string): string {
  return withoutRoot(Buffer.from(key, 'latin1').toString('utf8'));
}

function withoutRoot(path: string): string {
  return path.slice(2);
}

const KINDS = new Map<string, EntryKind>([
  ['f', 'file'],
  ['d', 'directory'],
  ['l', 'link'],
]);

function parseRecord(output: Buffer, start: number, end: number): FoundRecord {
  const pathEnd = output.indexOf(0, start);
  const raw = output.toString('utf8', start, pathEnd);
  const shown = withoutRoot(raw);
  const isText = !raw.includes('\ufffd') || isExact(raw, output.subarray(start, pathEnd));
  const fields = output.toString('utf8', pathEnd + 1, end - BETWEEN.length);
  const [type = '', mode = '', size = '', ino = '', ctime = '', dev = ''] = fields.split(' ', 6);
  const kind = KINDS.get(type) ?? 'special';
  const stat: EntryStat = {
    kind,
    mode: Number.parseInt(mode, 8) & 0o7777,
    size: Number(size),
    ino: Number(ino),
    ctime: milliseconds(ctime),
    dev: Number(dev),
  };
  const path = isText ? shown : undefined;
  if (kind !== 'link') return { path, shown, stat };
  const targetAt = type.length + mode.length + size.length + ino.length + ctime.length + dev.length;
  const target = fields.slice(targetAt + 6);
  const isTargetText = !target.includes('\ufffd');
  return { path, shown, stat: isTargetText ? { ...stat, target } : { ...stat, kind: 'special' } };
}

function isExact(text: string, bytes: Buffer): boolean {
  return Buffer.from(text).equals(bytes);
}

/** Computed as Node does, so that both ways of looking give the same number. */
function milliseconds(seconds: string): number {
  const dot = seconds.indexOf('.');
  if (dot === -1) return Number(seconds) * 1000;
  return Number(seconds.slice(0, dot)) * 1000 + Number(seconds.slice(dot + 1, dot + 10)) / 1e6;
}
