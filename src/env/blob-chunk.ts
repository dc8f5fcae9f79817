/**
 * Cuts long contents where the contents themselves say so: an edit moves no cut but those beside it, so
 * that two versions of a file share all other pieces.
 */
const SMALLEST = 2 * 1024;
const LARGEST = 64 * 1024;
/** A cut falls where this many top bits of the rolling sum are zero: every 8 KiB on average. */
const ZERO_BITS = 13;

/** One fixed number for each byte value; every version of the program has to cut alike. */
const GEAR = gearTable();

function gearTable(): Int32Array {
  const table = new Int32Array(256);
  let seed = 0x9e3779b9;
  for (let index = 0; index < table.length; index++) {
    seed ^= seed << 13;
    seed ^= seed >>> 17;
    seed ^= seed << 5;
    table[index] = seed;
  }
  return table;
}

/** Where the piece that begins at `from` ends. */
export function pieceEnd(bytes: Uint8Array, from: number): number {
  const longest = Math.min(bytes.length, from + LARGEST);
  let sum = 0;
  for (let at = from + SMALLEST; at < longest; at++) {
    sum = ((sum << 1) + (GEAR[bytes[at] ?? 0] ?? 0)) | 0;
    if (sum >>> (32 - ZERO_BITS) === 0) return at + 1;
  }
  return longest;
}
