import { closeSync, fstatSync, openSync, readSync, statSync } from 'node:fs';
import { messageOf, PortcullisError } from '../../errors.js';
import { LineSplitter } from '../../lib/json.js';
import { nodeFileSystem } from './node-fs.js';
import { mayBeThere } from './project-levels.js';

const MAX_LINE_CHARS = 256 << 20;

/**
 * Calls `onLine` for every line in order, never holding more than one chunk and one line. A line too long for a
 * string is given as undefined. False when there is no such file.
 */
export async function readLines(
  path: string,
  onLine: (line: string | undefined) => void,
): Promise<boolean> {
  if (!mayBeThere(path)) return false;
  const lines = new LineSplitter(MAX_LINE_CHARS);
  for await (const text of textOf(path)) for (const line of lines.push(text)) onLine(line);
  for (const line of lines.end()) onLine(line);
  return true;
}

async function* textOf(path: string): AsyncGenerator<string> {
  const decoder = new TextDecoder('utf-8', { ignoreBOM: true });
  try {
    for await (const bytes of nodeFileSystem.stream(path)) {
      yield decoder.decode(bytes, { stream: true });
    }
    yield decoder.decode();
  } catch (thrown) {
    // Opening refuses pipes, devices and directories with an error of its own.
    const isOther = thrown instanceof PortcullisError;
    const reason = isOther ? 'it is not a regular file' : messageOf(thrown);
    throw new PortcullisError('session', `cannot read ${path}: ${reason}`, {
      remedy: 'Check that the file is yours and readable.',
      cause: thrown,
    });
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
