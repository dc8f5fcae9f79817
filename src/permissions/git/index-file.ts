/** Mode of an entry that stands for a repository inside the repository. */
const GITLINK = 0o160000;
const HEADER_BYTES = 12;
/** Up to the flags: times, device, mode, owner, size and a SHA-1. */
const FIXED_BYTES = 62;
const MTIME_AT = 8;
const MODE_AT = 24;
const SIZE_AT = 36;
const ID_AT = 40;
const FLAGS_AT = 60;
const EXTENDED = 0x4000;
const CHECKSUM_BYTES = 20;

/**
 * The paths of the repositories inside a repository, from its index. Undefined when the index cannot
 * be followed: another format, split over several files, or damaged.
 */
export function gitlinksIn(index: Uint8Array): readonly string[] | undefined {
  const view = viewOf(index);
  const links: string[] = [];
  const isWhole = readIndex(index, (name, at) => {
    if (view.getUint32(at + MODE_AT) === GITLINK) links.push(name);
  });
  return isWhole ? links : undefined;
}

/**
 * Calls `visit` with the name of each entry, one character a byte, and where it is. False when the
 * index cannot be followed.
 */
export function readIndex(index: Uint8Array, visit: (name: string, at: number) => void): boolean {
  const view = viewOf(index);
  try {
    if (text(index, 0, 4) !== 'DIRC') return false;
    const version = view.getUint32(4);
    if (version < 2 || version > 4) return false;
    let at = HEADER_BYTES;
    let name = '';
    for (let left = view.getUint32(8); left > 0; left--) {
      const extra = (view.getUint16(at + FLAGS_AT) & EXTENDED) === 0 ? 0 : 2;
      const entry = readName(index, at + FIXED_BYTES + extra, version === 4 ? name : undefined);
      if (entry === undefined) return false;
      name = entry.name;
      visit(name, at);
      // Entries of the older formats are filled up with zeros to a multiple of eight.
      const size = entry.end - at;
      at = version === 4 ? entry.end + 1 : at + size + (8 - (size % 8));
    }
    return endsHere(index, view, at);
  } catch (thrown) {
    // fail-closed: it points behind its own end.
    if (thrown instanceof RangeError) return false;
    throw thrown;
  }
}

/** What git keeps about one file, by which it sees whether the file has changed. */
export interface IndexEntry {
  /** The name of its content. */
  readonly id: string;
  readonly size: number;
  readonly mtimeMs: number;
}

export function indexEntry(index: Uint8Array, at: number): IndexEntry {
  const view = viewOf(index);
  const id = [...index.subarray(at + ID_AT, at + FLAGS_AT)];
  return {
    id: id.map((byte) => byte.toString(16).padStart(2, '0')).join(''),
    size: view.getUint32(at + SIZE_AT),
    mtimeMs: view.getUint32(at + MTIME_AT) * 1000 + view.getUint32(at + MTIME_AT + 4) / 1e6,
  };
}

function viewOf(index: Uint8Array): DataView {
  return new DataView(index.buffer, index.byteOffset, index.byteLength);
}

/** A name up to its zero. In the newest format it goes on from a part of the one before. */
function readName(
  index: Uint8Array,
  start: number,
  before: string | undefined,
): { readonly name: string; readonly end: number } | undefined {
  let from = start;
  let kept = '';
  if (before !== undefined) {
    const dropped = readNumber(index, start);
    if (dropped === undefined || dropped.value > before.length) return undefined;
    kept = before.slice(0, before.length - dropped.value);
    from = dropped.end;
  }
  const end = index.indexOf(0, from);
  return end === -1 ? undefined : { name: kept + text(index, from, end), end };
}

function readNumber(
  index: Uint8Array,
  start: number,
): { readonly value: number; readonly end: number } | undefined {
  let value = 0;
  for (let at = start; at < Math.min(index.length, start + 5); at++) {
    const byte = index[at] ?? 0;
    value = at === start ? byte & 0x7f : (value + 1) * 128 + (byte & 0x7f);
    if ((byte & 0x80) === 0) return { value, end: at + 1 };
  }
  return undefined;
}

/** Behind the extensions stands only a checksum. One of them says that entries are in another file. */
function endsHere(index: Uint8Array, view: DataView, start: number): boolean {
  const end = index.length - CHECKSUM_BYTES;
  let at = start;
  for (; at + 8 <= end; at += 8 + view.getUint32(at + 4)) {
    if (text(index, at, at + 4) === 'link') return false;
  }
  return at === end;
}

/** One character a byte: names are compared and cut as git does it. */
function text(bytes: Uint8Array, from: number, to: number): string {
  return String.fromCharCode(...bytes.subarray(from, Math.min(to, from + MAX_NAME)));
}

const MAX_NAME = 4096;
