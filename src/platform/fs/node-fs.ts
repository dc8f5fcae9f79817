import {
  closeSync,
  constants,
  fstatSync,
  lstatSync,
  mkdirSync,
  openSync,
  readdirSync,
  readSync,
  rmdirSync,
  rmSync,
  type Stats,
  statSync,
  unlinkSync,
} from 'node:fs';
import { open } from 'node:fs/promises';
import { PortcullisError, systemCodeOf } from '../../errors.js';
import type { DirectoryEntries, FileStat, FileSystem, OpenOptions } from './fs.js';
import { openDirectory, requireOpenedAt } from './opened-path.js';
import { realPathSync } from './real-path.js';
import { writeAtomic } from './write-atomic.js';

/**
 * The disk. Small files are read with synchronous calls inside the asynchronous functions: a hop to
 * the thread pool costs ten times the read itself, and these are the hot path.
 */
export const nodeFileSystem: FileSystem = {
  stat: async (path) => statFileSync(path),
  lstat: async (path) => lstatFileSync(path),
  readBytes,
  readWithStat,
  readText: async (path, options) => decodeUtf8(await readBytes(path, options)),
  readHead: async (path, length, options) => {
    const { fd } = openRegular(path, options);
    try {
      return readUpTo(fd, length);
    } finally {
      closeSync(fd);
    }
  },
  stream,
  writeAtomic,
  makeDirectory: async (path, options) => {
    mkdirSync(path, { recursive: true, ...options });
  },
  remove,
  list,
  realPath: async (path) => realPathSync(path),
};

const SMALL_FILE_BYTES = 256 * 1024;
const STREAM_CHUNK_BYTES = 1024 * 1024;
const SMALLEST_STEP_BYTES = 4096;

/** Absent on Windows, where opening never waits. */
const OPEN_FOR_READING = constants.O_RDONLY | (constants.O_NONBLOCK ?? 0);
const OPEN_NO_LINK = OPEN_FOR_READING | (constants.O_NOFOLLOW ?? 0);

async function readBytes(
  path: string,
  options: OpenOptions & { maxBytes?: number } = {},
): Promise<Uint8Array> {
  const { maxBytes = Number.POSITIVE_INFINITY, realPath } = options;
  const bytes = await readOpened(path, openRegular(path, options), { maxBytes, realPath });
  if (bytes === undefined) throw tooLarge(path, maxBytes);
  return bytes;
}

async function readWithStat(path: string, options: OpenOptions & { maxBytes: number }) {
  const opened = openRegular(path, options);
  const bytes = await readOpened(path, opened, options);
  const { stat } = opened;
  return bytes === undefined ? { stat } : { stat, bytes };
}

/** Closes it. Undefined: it holds more than it may. */
async function readOpened(
  path: string,
  { fd, stat: { size } }: OpenFile,
  options: OpenOptions & { maxBytes: number },
): Promise<Uint8Array | undefined> {
  const { maxBytes } = options;
  try {
    if (size > maxBytes) return undefined;
    if (size < SMALL_FILE_BYTES) {
      const bytes = readSmall(fd, size, maxBytes);
      return bytes.length >= maxBytes && readUpTo(fd, 1).length > 0 ? undefined : bytes;
    }
  } finally {
    closeSync(fd);
  }
  return await readLarge(path, options);
}

/** Mostly one read: what it gives is all there is when that is what the file said. */
function readSmall(fd: number, size: number, maxBytes: number): Uint8Array {
  const room = Buffer.allocUnsafe(Math.min(size + 1, maxBytes));
  const count = readSync(fd, room, 0, room.length, null);
  const read = room.subarray(0, count);
  // Files under /proc say 0 and hold more, so the end of the file decides, not its size.
  const isWhole = size > 0 && count < room.length;
  if (isWhole || count === 0 || count >= maxBytes) return read;
  return Buffer.concat([read, readUpTo(fd, maxBytes - count, 1)]);
}

async function readLarge(
  path: string,
  options: OpenOptions & { maxBytes: number },
): Promise<Uint8Array | undefined> {
  const { maxBytes } = options;
  const { handle, size } = await openLarge(path, options);
  try {
    if (size > maxBytes) return undefined;
    const bytes = await handle.readFile();
    // It may have grown since its size was asked.
    return bytes.length > maxBytes ? undefined : bytes;
  } finally {
    await handle.close();
  }
}

/** Reads a small regular file for code that cannot wait, such as a dialog. With `noLink` a link is refused. */
export function readTextSync(
  path: string,
  { maxBytes, noLink = false }: { readonly maxBytes: number; readonly noLink?: boolean },
): { readonly text: string; readonly stat: FileStat } {
  const { fd, stat } = openRegular(path, {}, noLink ? OPEN_NO_LINK : OPEN_FOR_READING);
  try {
    const bytes = readUpTo(fd, maxBytes + 1, stat.size + 1);
    if (bytes.length > maxBytes) throw tooLarge(path, maxBytes);
    return { stat, text: decodeUtf8(bytes) };
  } finally {
    closeSync(fd);
  }
}

function readDirectory(path: string): DirectoryEntries {
  return readdirSync(path, { withFileTypes: true })
    .map((entry) => ({ name: entry.name, kind: kindOf(entry) }))
    .sort((a, b) => (a.name < b.name ? -1 : 1));
}

async function list(path: string, { realPath }: OpenOptions = {}): Promise<DirectoryEntries> {
  if (realPath === undefined) return readDirectory(path);
  const directory = openDirectory(realPath, path);
  try {
    return readDirectory(directory.path);
  } finally {
    directory.close();
  }
}

async function* stream(path: string, options?: OpenOptions): AsyncGenerator<Uint8Array> {
  const { handle } = await openLarge(path, options);
  try {
    for (;;) {
      const { bytesRead, buffer } = await handle.read(Buffer.allocUnsafe(STREAM_CHUNK_BYTES));
      if (bytesRead === 0) return;
      yield buffer.subarray(0, bytesRead);
    }
  } finally {
    await handle.close();
  }
}

async function remove(path: string, options?: { recursive?: boolean }): Promise<void> {
  const stat = lstatSync(path, { throwIfNoEntry: false });
  if (stat === undefined) return;
  if (options?.recursive) rmSync(path, { recursive: true, force: true });
  else if (stat.isDirectory()) rmdirSync(path);
  else unlinkSync(path);
}

interface OpenFile {
  readonly fd: number;
  readonly stat: FileStat;
}

/** Opens without waiting and makes sure, after opening, that it is a regular file. */
function openRegular(
  path: string,
  { realPath }: OpenOptions = {},
  flags = OPEN_FOR_READING,
): OpenFile {
  const fd = openSync(path, flags);
  try {
    if (realPath !== undefined) requireOpenedAt(fd, realPath, path);
    const stat = factsOf(fstatSync(fd));
    if (stat.kind !== 'file') throw notRegular(path, stat.kind);
    return { fd, stat };
  } catch (thrown) {
    closeSync(fd);
    throw thrown;
  }
}

/** The same for a file that is read in other threads: what was looked at before may be a device by now. */
async function openLarge(path: string, { realPath }: OpenOptions = {}) {
  const handle = await open(path, OPEN_FOR_READING);
  try {
    if (realPath !== undefined) requireOpenedAt(handle.fd, realPath, path);
    const { mode, size } = await handle.stat();
    const kind = kindOfMode(mode);
    if (kind !== 'file') throw notRegular(path, kind);
    return { handle, size };
  } catch (thrown) {
    await handle.close();
    throw thrown;
  }
}

function notRegular(path: string, kind: FileStat['kind']): PortcullisError {
  const what = kind === 'directory' ? 'a directory' : 'not a regular file';
  return new PortcullisError('io', `${path} is ${what}`, { remedy: 'Name a regular file.' });
}

function readUpTo(fd: number, length: number, sizeHint = length): Uint8Array {
  const chunks: Uint8Array[] = [];
  let total = 0;
  let step = Math.min(length, sizeHint);
  while (total < length) {
    const chunk = Buffer.allocUnsafe(Math.min(step, length - total));
    const count = readSync(fd, chunk, 0, chunk.length, null);
    if (count === 0) break;
    chunks.push(chunk.subarray(0, count));
    total += count;
    // Less than was asked for: the end. Files under /proc are the exception, and say that they are empty.
    if (count < chunk.length && sizeHint > 1 && sizeHint < length) break;
    // Mostly only the end is left to be seen, which is no reason to ask for much memory.
    step = Math.min(STREAM_CHUNK_BYTES, Math.max(SMALLEST_STEP_BYTES, total));
  }
  return chunks.length === 1 && chunks[0] !== undefined ? chunks[0] : Buffer.concat(chunks, total);
}

function tooLarge(path: string, maxBytes: number): PortcullisError {
  return new PortcullisError('io', `${path} is larger than the ${maxBytes} bytes allowed here`, {
    remedy: 'Use a smaller file.',
  });
}

const utf8 = new TextDecoder('utf-8');

/** Drops a byte order mark, replaces what is not UTF-8. */
function decodeUtf8(bytes: Uint8Array): string {
  return utf8.decode(bytes);
}

const QUIETLY = { throwIfNoEntry: false } as const;

/** As `stat`, for code that cannot wait. */
export function statFileSync(path: string): FileStat | undefined {
  try {
    const stat = statSync(path, QUIETLY);
    return stat === undefined ? undefined : factsOf(stat);
  } catch (thrown) {
    if (isMissing(thrown)) return undefined;
    throw thrown;
  }
}

export function lstatFileSync(path: string): FileStat | undefined {
  try {
    const stat = lstatSync(path, QUIETLY);
    return stat === undefined ? undefined : factsOf(stat);
  } catch (thrown) {
    if (isMissing(thrown)) return undefined;
    throw thrown;
  }
}

/** Spelled out: this is done for every file of a project, and spreading costs. */
function factsOf(stat: Stats): FileStat {
  const { size, mtimeMs, mode, ctimeMs, ino: inode, dev: device } = stat;
  const kind = kindOfMode(mode);
  const foreign = isForeign(stat);
  const facts: FileStat =
    foreign === undefined
      ? { kind, size, mtimeMs, mode, ctimeMs, inode, device }
      : { kind, size, mtimeMs, mode, ctimeMs, inode, device, foreign };
  return stat.nlink > 1 && kind === 'file' ? { ...facts, links: stat.nlink } : facts;
}

function isForeign({ uid, gid, mode }: Stats): boolean | undefined {
  us ??= { user: process.getuid?.(), group: process.getgid?.() };
  if (us.user === undefined || us.group === undefined) return undefined;
  const isOurs = uid === 0 || uid === us.user;
  const groupIsOurs = gid === 0 || gid === us.group;
  const isShared = (mode & 0o002) !== 0 || ((mode & 0o020) !== 0 && !groupIsOurs);
  return !isOurs || isShared;
}

/** Asked once: this program does not change who it is. */
let us: { readonly user: number | undefined; readonly group: number | undefined } | undefined;

function kindOf(entry: {
  isFile(): boolean;
  isDirectory(): boolean;
  isSymbolicLink(): boolean;
}): FileStat['kind'] {
  if (entry.isFile()) return 'file';
  if (entry.isDirectory()) return 'directory';
  return entry.isSymbolicLink() ? 'symlink' : 'other';
}

function kindOfMode(mode: number): FileStat['kind'] {
  switch (mode & constants.S_IFMT) {
    case constants.S_IFREG:
      return 'file';
    case constants.S_IFDIR:
      return 'directory';
    case constants.S_IFLNK:
      return 'symlink';
    default:
      return 'other';
  }
}

function isMissing(thrown: unknown): boolean {
  const code = systemCodeOf(thrown);
  return code === 'ENOENT' || code === 'ENOTDIR';
}
