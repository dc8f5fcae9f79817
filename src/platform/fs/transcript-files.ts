import { closeSync, constants, fstatSync, openSync, readSync, statSync } from 'node:fs';
import { type FileHandle, open, readFile } from 'node:fs/promises';
import { messageOf, PortcullisError, systemCodeOf } from '../../errors.js';
import { LineSplitter } from '../../lib/json.js';

/** Absent on Windows, where opening never waits. */
const READ_WITHOUT_WAITING = constants.O_RDONLY | (constants.O_NONBLOCK ?? 0);
const CHUNK_BYTES = 1 << 20;
const MAX_LINE_CHARS = 256 << 20;

/**
 * Calls `onLine` for every line in order, never holding more than one chunk and one line. A line too long for a
 * string is given as undefined. False when there is no such file.
 */
export async function readLines(
  path: string,
  onLine: (line: string | undefined) => void,
): Promise<boolean> {
  const file = await openForReading(path);
  if (file === undefined) return false;
  try {
    const lines = new LineSplitter(MAX_LINE_CHARS);
    const options = { encoding: 'utf8', highWaterMark: CHUNK_BYTES, autoClose: false } as const;
    for await (const text of file.createReadStream(options)) {
      for (const line of lines.push(text)) onLine(line);
    }
    for (const line of lines.end()) onLine(line);
    return true;
  } finally {
    await file.close();
  }
}

async function openForReading(path: string): Promise<FileHandle | undefined> {
  try {
    // Without waiting: a pipe in the place of a transcript would keep us for ever.
    const handle = await open(path, READ_WITHOUT_WAITING);
    if ((await handle.stat()).isFile()) return handle;
    await handle.close();
    throw new Error('it is not a regular file');
  } catch (thrown) {
    if (isAbsent(thrown)) return undefined;
    throw new PortcullisError('session', `cannot read ${path}: ${messageOf(thrown)}`, {
      remedy: 'Check that the file is yours and readable.',
      cause: thrown,
    });
  }
}

/** Undefined when there is no such file. */
export async function readText(path: string): Promise<string | undefined> {
  try {
    return await readFile(path, 'utf8');
  } catch (thrown) {
    if (isAbsent(thrown)) return undefined;
    throw thrown;
  }
}

/** The first and last `bytes` of a file, which may overlap; undefined when it cannot be read. */
export function readEnds(
  path: string,
  bytes: number,
): { readonly head: string; readonly tail: string } | undefined {
  let fd: number | undefined;
  try {
    fd = openSync(path, 'r');
    const size = fstatSync(fd).size;
    const buffer = Buffer.alloc(Math.min(size, bytes));
    const head = buffer.toString('utf8', 0, readSync(fd, buffer, 0, buffer.length, 0));
    if (size <= bytes) return { head, tail: head };
    const tailBytes = readSync(fd, buffer, 0, buffer.length, size - buffer.length);
    return { head, tail: buffer.toString('utf8', 0, tailBytes) };
  } catch {
    // Used for listing only: a file that cannot be looked into is not offered.
    return undefined;
  } finally {
    if (fd !== undefined) closeSync(fd);
  }
}

/** Undefined when there is no regular file. */
export function modifiedAt(path: string): number | undefined {
  try {
    const stat = statSync(path, { throwIfNoEntry: false });
    return stat?.isFile() ? stat.mtimeMs : undefined;
  } catch {
    // An unreachable session cannot be listed: it counts as absent.
    return undefined;
  }
}

function isAbsent(thrown: unknown): boolean {
  const code = systemCodeOf(thrown);
  return code === 'ENOENT' || code === 'ENOTDIR';
}
