import { closeSync, constants, fstatSync, openSync, readSync, statSync } from 'node:fs';
import { type FileHandle, open, readFile } from 'node:fs/promises';
import { messageOf, PortcullisError, systemCodeOf } from '../../errors.js';
import { type AppendLog, createAppendLog, makePrivateDirectory } from './append-log.js';
import { type StateFiles, stateFiles } from './state-files.js';

/** What keeping transcripts asks of the disk. Mostly synchronous: an append has to be done when it returns. */
export interface TranscriptFiles extends Pick<StateFiles, 'list' | 'write' | 'writeOnce'> {
  openLog(path: string): AppendLog;
  /**
   * Calls `onLine` for every line in order, never holding more than one chunk and one line. A line
   * too long for a string is given as undefined. False when there is no such file.
   */
  readLines(path: string, onLine: (line: string | undefined) => void): Promise<boolean>;
  /** The first and last `bytes` of a file; undefined when it cannot be read. They may overlap. */
  readEnds(
    path: string,
    bytes: number,
  ): { readonly head: string; readonly tail: string } | undefined;
  readText(path: string): Promise<string | undefined>;
  /** Undefined when there is no regular file. */
  modifiedAt(path: string): number | undefined;
  makeDirectory(path: string): void;
}

export const nodeTranscriptFiles: TranscriptFiles = {
  openLog: createAppendLog,
  readLines,
  readEnds,
  readText,
  list: stateFiles.list,
  modifiedAt(path) {
    try {
      const stat = statSync(path, { throwIfNoEntry: false });
      return stat?.isFile() ? stat.mtimeMs : undefined;
    } catch {
      // Not reachable is the same as not there for whoever looks for a session.
      return undefined;
    }
  },
  makeDirectory: makePrivateDirectory,
  write: stateFiles.write,
  writeOnce: stateFiles.writeOnce,
};

/** Absent on Windows, where opening never waits. */
const READ_WITHOUT_WAITING = constants.O_RDONLY | (constants.O_NONBLOCK ?? 0);
const CHUNK_BYTES = 1 << 20;
const MAX_LINE_BYTES = 256 << 20;
const NEWLINE = 10;

async function readLines(
  path: string,
  onLine: (line: string | undefined) => void,
): Promise<boolean> {
  const file = await openForReading(path);
  if (file === undefined) return false;
  try {
    const chunk = Buffer.allocUnsafe(CHUNK_BYTES);
    const rest = new LineRest();
    for (;;) {
      const { bytesRead } = await file.read(chunk, 0, CHUNK_BYTES, null);
      if (bytesRead === 0) break;
      const bytes = chunk.subarray(0, bytesRead);
      let start = 0;
      for (;;) {
        const end = bytes.indexOf(NEWLINE, start);
        if (end === -1) break;
        onLine(rest.isEmpty ? bytes.toString('utf8', start, end) : rest.take(bytes, start, end));
        start = end + 1;
      }
      rest.add(bytes, start, bytesRead);
    }
    if (!rest.isEmpty) onLine(rest.take(chunk, 0, 0));
    return true;
  } finally {
    await file.close();
  }
}

/** The beginning of a line whose end is in a later chunk. */
class LineRest {
  #parts: Buffer[] = [];
  #bytes = 0;

  get isEmpty(): boolean {
    return this.#bytes === 0;
  }

  add(chunk: Buffer, start: number, end: number): void {
    if (end <= start) return;
    this.#bytes += end - start;
    // The chunk is used again for the next read, so its bytes are copied.
    if (this.#bytes <= MAX_LINE_BYTES) this.#parts.push(Buffer.from(chunk.subarray(start, end)));
    else this.#parts = [];
  }

  take(chunk: Buffer, start: number, end: number): string | undefined {
    this.add(chunk, start, end);
    const line =
      this.#bytes <= MAX_LINE_BYTES ? Buffer.concat(this.#parts).toString('utf8') : undefined;
    this.#parts = [];
    this.#bytes = 0;
    return line;
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

async function readText(path: string): Promise<string | undefined> {
  try {
    return await readFile(path, 'utf8');
  } catch (thrown) {
    if (isAbsent(thrown)) return undefined;
    throw thrown;
  }
}

function readEnds(path: string, bytes: number): { head: string; tail: string } | undefined {
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

function isAbsent(thrown: unknown): boolean {
  const code = systemCodeOf(thrown);
  return code === 'ENOENT' || code === 'ENOTDIR';
}
