import { closeSync, openSync, readSync } from 'node:fs';
import { cryptography } from './builtins.js';

/** Bytes drawn at once: enough for the ids of many turns. */
const POOL_BYTES = 1024;
let pool: Buffer = Buffer.alloc(0);

/** Unpredictable bytes from the kernel. Loading Node's own source would cost every start 2 ms. */
export function randomBytes(count: number): Buffer {
  if (pool.length < count) pool = draw(Math.max(count, POOL_BYTES));
  const taken = pool.subarray(0, count);
  pool = pool.subarray(count);
  return taken;
}

/** A random (version 4) UUID. */
export function randomUuid(): string {
  const bytes = randomBytes(16);
  bytes[6] = ((bytes[6] ?? 0) & 0x0f) | 0x40;
  bytes[8] = ((bytes[8] ?? 0) & 0x3f) | 0x80;
  const hex = bytes.toString('hex');
  // Joined, not added: a sum of texts keeps all its parts, which is seven times the memory.
  return [
    hex.slice(0, 8),
    hex.slice(8, 12),
    hex.slice(12, 16),
    hex.slice(16, 20),
    hex.slice(20),
  ].join('-');
}

function draw(count: number): Buffer {
  try {
    const file = openSync('/dev/urandom', 'r');
    try {
      const bytes = Buffer.alloc(count);
      // A short read would leave zeros, which are not random.
      if (readSync(file, bytes, 0, count, null) === count) return bytes;
    } finally {
      closeSync(file);
    }
  } catch {
    // No such device on this system; Node knows another source.
  }
  return cryptography().randomBytes(count);
}
