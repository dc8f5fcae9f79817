import { readFileSync } from 'node:fs';
import { writeAtomic } from '../../platform/fs/write-atomic.js';
import { Turns } from '../../platform/turns.js';
import type { BlobId } from '../types.js';
import type { EntryStat, TreeNode } from './tree.js';

/**
 * Remembers file hashes by inode, change time and size, so that a later session rereads only changed files.
 * Format: 'PCT1', then records of three doubles and a SHA-256.
 */
const MAGIC = Buffer.from('PCT10000');
const NUMBERS_BYTES = 24;
const RECORD_BYTES = NUMBERS_BYTES + 32;

interface Remembered extends Pick<EntryStat, 'ctime' | 'size'> {
  readonly blob: BlobId;
}

/** Keyed by inode; empty when the file is unreadable or damaged, so that everything is read again. */
export function readTreeMemory(path: string): ReadonlyMap<number, Remembered> {
  const found = new Map<number, Remembered>();
  let bytes: Buffer;
  try {
    bytes = readFileSync(path);
  } catch {
    return found;
  }
  if (!bytes.subarray(0, MAGIC.length).equals(MAGIC)) return found;
  for (let at = MAGIC.length; at + RECORD_BYTES <= bytes.length; at += RECORD_BYTES) {
    found.set(bytes.readDoubleLE(at), {
      ctime: bytes.readDoubleLE(at + 8),
      size: bytes.readDoubleLE(at + 16),
      blob: bytes.toString('hex', at + NUMBERS_BYTES, at + RECORD_BYTES),
    });
  }
  return found;
}

/** A failed write only costs time later. */
export async function writeTreeMemory(path: string, nodes: Iterable<TreeNode>): Promise<void> {
  const records = [MAGIC];
  const turns = new Turns();
  for (const { state, stat, isRacy } of nodes) {
    await turns.pause();
    if (state.kind !== 'file' || state.blob === undefined || isRacy) continue;
    const record = Buffer.alloc(RECORD_BYTES);
    record.writeDoubleLE(stat.ino, 0);
    record.writeDoubleLE(stat.ctime, 8);
    record.writeDoubleLE(stat.size, 16);
    record.write(state.blob, NUMBERS_BYTES, 'hex');
    records.push(record);
  }
  try {
    await writeAtomic(path, Buffer.concat(records), { mode: 0o600 });
  } catch {
    // Ignored, because the memory is only an optimisation.
  }
}
