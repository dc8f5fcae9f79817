import { readFileSync } from 'node:fs';
import { writeAtomic } from '../../platform/fs/write-atomic.js';
import { Turns } from '../../platform/turns.js';
import type { TreeNode } from './known-tree.js';

/**
 * Which bytes a file had when it was last read, by inode, change time and size, so that a later session
 * need not read what has not changed: 'PCT1', then records of three doubles and a SHA-256.
 */
const MAGIC = Buffer.from('PCT10000');
const NUMBERS_BYTES = 24;
const RECORD_BYTES = NUMBERS_BYTES + 32;

export interface TreeMemory {
  /** Undefined: not known, or it has changed since. */
  blobOf(stat: Pick<TreeNode, 'ino' | 'ctime' | 'size'>): string | undefined;
}

/** An unreadable or damaged file is an empty memory: everything is read anew then. */
export function readTreeMemory(path: string): TreeMemory {
  let bytes: Buffer;
  try {
    bytes = readFileSync(path);
  } catch {
    return { blobOf: () => undefined };
  }
  const byInode = new Map<number, number>();
  const isOurs = bytes.subarray(0, MAGIC.length).equals(MAGIC);
  const end = isOurs ? bytes.length - RECORD_BYTES : -1;
  for (let at = MAGIC.length; at <= end; at += RECORD_BYTES) {
    byInode.set(bytes.readDoubleLE(at), at);
  }
  return {
    blobOf({ ino, ctime, size }) {
      const at = byInode.get(ino);
      if (at === undefined) return undefined;
      if (bytes.readDoubleLE(at + 8) !== ctime || bytes.readDoubleLE(at + 16) !== size) {
        return undefined;
      }
      return bytes.toString('hex', at + NUMBERS_BYTES, at + RECORD_BYTES);
    },
  };
}

/** Failing to remember costs time later, nothing else. */
export async function writeTreeMemory(
  path: string,
  nodes: Iterable<TreeNode>,
  count: number,
): Promise<void> {
  let bytes = Buffer.alloc(MAGIC.length + count * RECORD_BYTES);
  let at = MAGIC.copy(bytes);
  const turns = new Turns();
  for (const { state, ino, ctime, size, isRacy } of nodes) {
    if (state.kind !== 'file' || state.blob === undefined || isRacy) continue;
    // The tree has grown meanwhile.
    if (at + RECORD_BYTES > bytes.length) bytes = Buffer.concat([bytes], 2 * bytes.length);
    bytes.writeDoubleLE(ino, at);
    bytes.writeDoubleLE(ctime, at + 8);
    bytes.writeDoubleLE(size, at + 16);
    bytes.write(state.blob, at + NUMBERS_BYTES, 'hex');
    at += RECORD_BYTES;
    if (at % (1024 * RECORD_BYTES) === MAGIC.length) await turns.pause();
  }
  try {
    await writeAtomic(path, bytes.subarray(0, at), { mode: 0o600 });
  } catch {
    // As above.
  }
}
