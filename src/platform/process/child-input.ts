import { closeSync, constants, openSync, unlinkSync, writeSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { randomBytes } from '../random.js';

/** In memory where the system has such a place, so that what a child is told does not reach a disk. */
const PLACES: readonly (() => string)[] = [() => '/dev/shm', tmpdir];

/**
 * The whole input of a child as a file without a name, to be given to it as standard input and closed
 * here afterwards. Node's own connection is a socket, which cannot be opened by name: a script that
 * reads `/dev/stdin` would be told nothing and go on, and a guard that is told nothing lets pass.
 * Undefined where no such file can be made: Node's own is better than none.
 */
export function inputFile(input: string | Uint8Array): number | undefined {
  if (process.platform === 'win32') return undefined;
  const bytes = typeof input === 'string' ? Buffer.from(input) : input;
  for (const place of PLACES) {
    const fd = unnamedFile(place());
    if (fd === undefined) continue;
    if (fill(fd, bytes)) return fd;
    closeSync(fd);
  }
  return undefined;
}

function unnamedFile(directory: string): number | undefined {
  const file = join(directory, `portcullis-input-${randomBytes(12).toString('hex')}`);
  try {
    const fd = openSync(file, constants.O_RDWR | constants.O_CREAT | constants.O_EXCL, 0o600);
    unlinkSync(file);
    return fd;
  } catch {
    // No such directory, or not ours to write.
    return undefined;
  }
}

/** By position, so that the child starts to read at the beginning. */
function fill(fd: number, bytes: Uint8Array): boolean {
  try {
    for (let at = 0; at < bytes.length; ) {
      at += writeSync(fd, bytes, at, bytes.length - at, at);
    }
    return true;
  } catch {
    // Full: there may be room in the next place.
    return false;
  }
}
