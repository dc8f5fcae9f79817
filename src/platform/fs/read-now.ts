import { closeSync, constants, fstatSync, openSync, readSync } from 'node:fs';

/**
 * A small file at once, for values that are wanted in the middle of a synchronous computation.
 * Undefined when it is not there, is no regular file, is larger than `maxBytes`, or cannot be read.
 */
export function readNow(path: string, maxBytes: number): Uint8Array | undefined {
  let fd: number | undefined;
  try {
    fd = openSync(path, constants.O_RDONLY | (constants.O_NONBLOCK ?? 0));
    const stat = fstatSync(fd);
    if (!stat.isFile() || stat.size > maxBytes) return undefined;
    const bytes = new Uint8Array(stat.size);
    let length = 0;
    while (length < bytes.length) {
      const count = readSync(fd, bytes, length, bytes.length - length, null);
      if (count === 0) break;
      length += count;
    }
    return bytes.subarray(0, length);
  } catch {
    return undefined;
  } finally {
    if (fd !== undefined) closeSync(fd);
  }
}
