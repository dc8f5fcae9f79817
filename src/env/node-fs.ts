import {
  closeSync,
  constants,
  fstatSync,
  lstatSync,
  mkdirSync,
  openSync,
  readdirSync,
  readlinkSync,
  readSync,
  realpathSync,
  rmdirSync,
  rmSync,
  type Stats,
  statSync,
  unlinkSync,
} from 'node:fs';
import { PortcullisError, systemCodeOf } from '../errors.js';
import { fileSystemPromises } from './builtins.js';
import type { FileStat, FileSystem } from './fs.js';
import { basename, dirname, join, resolve } from './paths.js';
import { writeAtomic } from './write-atomic.js';

/**
 * The disk. Small files are read with synchronous calls inside the asynchronous functions: a hop to
 * the thread pool costs ten times the read itself, and these are the hot path.
 */
export const nodeFileSystem: FileSystem = {
  stat: async (path) => statNow(path),
  lstat: async (path) => lstatNow(path),
  statNow,
  lstatNow,
  readBytes,
  readText: async (path, options) => decodeUtf8(await readBytes(path, options)),
  readHead: async (path, length) => {
    const { fd } = openRegular(path);
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
  list: async (path) =>
    readdirSync(path, { withFileTypes: true })
      .map((entry) => ({ name: entry.name, kind: kindOf(entry) }))
      .sort((a, b) => (a.name < b.name ? -1 : 1)),
  realPath: async (path) => realPathSync(path),
};

const SMALL_FILE_BYTES = 256 * 1024;
const STREAM_CHUNK_BYTES = 1024 * 1024;
const SMALLEST_STEP_BYTES = 4096;
const MOST_LINKS = 40;

/** Absent on Windows, where opening never waits. */
const OPEN_FOR_READING = constants.O_RDONLY | (constants.O_NONBLOCK ?? 0);

async function readBytes(path: string, options?: { maxBytes?: number }): Promise<Uint8Array> {
  const maxBytes = options?.maxBytes ?? Number.POSITIVE_INFINITY;
  const { fd, size } = openRegular(path);
  try {
    if (size > maxBytes) throw tooLarge(path, maxBytes);
    if (size < SMALL_FILE_BYTES) {
      // Files under /proc say 0 and hold more, so the end of the file decides, not its size.
      const bytes = readUpTo(fd, maxBytes, size + 1);
      if (bytes.length >= maxBytes && readUpTo(fd, 1).length > 0) throw tooLarge(path, maxBytes);
      return bytes;
    }
  } finally {
    closeSync(fd);
  }
  const handle = await fileSystemPromises().open(path, OPEN_FOR_READING);
  try {
    const bytes = await handle.readFile();
    // It may have grown since its size was asked.
    if (bytes.length > maxBytes) throw tooLarge(path, maxBytes);
    return bytes;
  } finally {
    await handle.close();
  }
}

async function* stream(path: string): AsyncGenerator<Uint8Array> {
  closeSync(openRegular(path).fd);
  const handle = await fileSystemPromises().open(path, OPEN_FOR_READING);
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

/** Opens without waiting and makes sure, after opening, that it is a regular file. */
function openRegular(path: string): { readonly fd: number; readonly size: number } {
  const fd = openSync(path, OPEN_FOR_READING);
  const stat = fstatSync(fd);
  if (stat.isFile()) return { fd, size: stat.size };
  closeSync(fd);
  throw new PortcullisError(
    'io',
    `${path} is ${stat.isDirectory() ? 'a directory' : 'not a regular file'}`,
    { remedy: 'Name a regular file.' },
  );
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

function statNow(path: string): FileStat | undefined {
  try {
    return factsOf(statSync(path, QUIETLY));
  } catch (thrown) {
    if (isMissing(thrown)) return undefined;
    throw thrown;
  }
}

function lstatNow(path: string): FileStat | undefined {
  try {
    return factsOf(lstatSync(path, QUIETLY));
  } catch (thrown) {
    if (isMissing(thrown)) return undefined;
    throw thrown;
  }
}

/** Spelled out: this is done for every file of a project, and spreading costs. */
function factsOf(stat: Stats | undefined): FileStat | undefined {
  if (stat === undefined) return undefined;
  const { size, mtimeMs, mode, ctimeMs, ino: inode, dev: device } = stat;
  const kind = kindOfMode(mode);
  const foreign = isForeign(stat);
  return foreign === undefined
    ? { kind, size, mtimeMs, mode, ctimeMs, inode, device }
    : { kind, size, mtimeMs, mode, ctimeMs, inode, device, foreign };
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

/** As `FileSystem.realPath`. */
export function realPathSync(path: string): string {
  return realPath(resolve(path), 0);
}

function realPath(path: string, depth: number): string {
  // fail-closed: a chain of links this long is a loop, and nobody can say where it leads.
  if (depth > MOST_LINKS) {
    throw new PortcullisError('io', `${path} goes through too many symbolic links`, {
      remedy: 'Remove the loop of links.',
    });
  }
  try {
    return realpathSync.native(path);
  } catch (thrown) {
    if (!isMissing(thrown)) throw thrown;
  }
  const parent = dirname(path);
  if (parent === path) return path;
  // A link to nothing still decides where a write would land.
  if (lstatNow(path)?.kind === 'symlink')
    return realPath(resolve(parent, readlinkSync(path)), depth + 1);
  return join(realPath(parent, depth), basename(path));
}

function isMissing(thrown: unknown): boolean {
  const code = systemCodeOf(thrown);
  return code === 'ENOENT' || code === 'ENOTDIR';
}
