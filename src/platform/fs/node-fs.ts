import {
  closeSync,
  constants,
  type Dirent,
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
import { PortcullisError, systemCodeOf } from '../../errors.js';
import type { DirectoryEntries, FileStat, FileSystem, OpenOptions } from './fs.js';
import { openDirectory, realPathSync, requireOpenedAt } from './opened-path.js';
import { writeAtomic } from './write-atomic.js';

/**
 * The disk. The asynchronous functions make synchronous calls: a hop to the thread pool costs ten times
 * the read of a small file.
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
      return readUpTo(fd, length, length);
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

const CHUNK_BYTES = 64 * 1024;
const STREAM_CHUNK_BYTES = 1024 * 1024;

/** Absent on Windows, where opening never waits. */
const OPEN_FOR_READING = constants.O_RDONLY | (constants.O_NONBLOCK ?? 0);
const OPEN_NO_LINK = OPEN_FOR_READING | (constants.O_NOFOLLOW ?? 0);

async function readBytes(
  path: string,
  { maxBytes = Number.POSITIVE_INFINITY, ...options }: OpenOptions & { maxBytes?: number } = {},
): Promise<Uint8Array> {
  const { bytes } = await readWithStat(path, { ...options, maxBytes });
  if (bytes === undefined) throw tooLarge(path, maxBytes);
  return bytes;
}

async function readWithStat(path: string, options: OpenOptions & { maxBytes: number }) {
  const { fd, stat } = openRegular(path, options);
  try {
    if (stat.size > options.maxBytes) return { stat };
    const bytes = readUpTo(fd, options.maxBytes + 1, stat.size + 1);
    // It may have grown since its size was asked.
    return bytes.length > options.maxBytes ? { stat } : { stat, bytes };
  } finally {
    closeSync(fd);
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
  const { fd } = openRegular(path, options);
  try {
    for (;;) {
      const chunk = Buffer.allocUnsafe(STREAM_CHUNK_BYTES);
      const count = readSync(fd, chunk, 0, chunk.length, null);
      if (count === 0) return;
      yield chunk.subarray(0, count);
    }
  } finally {
    closeSync(fd);
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

function notRegular(path: string, kind: FileStat['kind']): PortcullisError {
  const what = kind === 'directory' ? 'a directory' : 'not a regular file';
  return new PortcullisError('io', `${path} is ${what}`, { remedy: 'Name a regular file.' });
}

/** Reads to the end of the file or to `most` bytes: files under /proc hold more than the size they report. */
function readUpTo(fd: number, most: number, expected: number): Uint8Array {
  const chunks: Uint8Array[] = [];
  let total = 0;
  while (total < most) {
    const chunk = Buffer.allocUnsafe(Math.min(most - total, total === 0 ? expected : CHUNK_BYTES));
    const count = readSync(fd, chunk, 0, chunk.length, null);
    if (count === 0) break;
    chunks.push(chunk.subarray(0, count));
    total += count;
    // A short read is the end of a file that reports its size.
    if (count < chunk.length && expected > 1) break;
  }
  return Buffer.concat(chunks, total);
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

/** As `stat`, for code that cannot wait. */
export function statFileSync(path: string): FileStat | undefined {
  return statWith(statSync, path);
}

export function lstatFileSync(path: string): FileStat | undefined {
  return statWith(lstatSync, path);
}

function statWith(stat: typeof statSync, path: string): FileStat | undefined {
  try {
    const found = stat(path, { throwIfNoEntry: false });
    return found === undefined ? undefined : factsOf(found);
  } catch (thrown) {
    // A part of the path is a file.
    if (systemCodeOf(thrown) === 'ENOTDIR') return undefined;
    throw thrown;
  }
}

function factsOf(stat: Stats): FileStat {
  const { size, mtimeMs, mode, ctimeMs, ino: inode, dev: device, nlink } = stat;
  const kind = kindOf(stat);
  const links = nlink > 1 && kind === 'file' ? nlink : undefined;
  return { kind, size, mtimeMs, mode, ctimeMs, inode, device, links, foreign: isForeign(stat) };
}

function isForeign({ uid, gid, mode }: Stats): boolean | undefined {
  if (process.getuid === undefined || process.getgid === undefined) return undefined;
  const isOurs = uid === 0 || uid === process.getuid();
  const groupIsOurs = gid === 0 || gid === process.getgid();
  const isShared = (mode & 0o002) !== 0 || ((mode & 0o020) !== 0 && !groupIsOurs);
  return !isOurs || isShared;
}

function kindOf(entry: Dirent | Stats): FileStat['kind'] {
  if (entry.isFile()) return 'file';
  if (entry.isDirectory()) return 'directory';
  return entry.isSymbolicLink() ? 'symlink' : 'other';
}
