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

/** Digits of names to come, and how many of them are used up: to write them all at once is half the work. */
let digits = '';
let used = 0;
const DIGITS_OF_UUID = 32;
const NAMES_AT_ONCE = 256;
/** By the digit that was drawn in its place. */
const VARIANTS = '89ab89ab89ab89ab';

/** A random (version 4) UUID. */
export function randomUuid(): string {
  if (used === digits.length) {
    digits = draw((NAMES_AT_ONCE * DIGITS_OF_UUID) / 2).toString('hex');
    used = 0;
  }
  const at = used;
  used += DIGITS_OF_UUID;
  const variant = VARIANTS[Number.parseInt(digits.charAt(at + 16), 16)];
  // Joined, not added: a sum of texts keeps all its parts, which is seven times the memory.
  return [
    digits.slice(at, at + 8),
    digits.slice(at + 8, at + 12),
    `4${digits.slice(at + 13, at + 16)}`,
    `${variant}${digits.slice(at + 17, at + 20)}`,
    digits.slice(at + 20, at + 32),
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
