import { cryptography } from './builtins.js';

/**
 * A pack is a row of blocks; a block holds many contents, compressed together:
 *
 *     'PCK1' | count | stored length | raw length | check (8 bytes) | count × (SHA-256, length, kind) | body
 *
 * Numbers are 32 bits, little-endian. The check is over the head; what is in the body is checked by the
 * hash of each content when it is read. A body as long as its raw length is not compressed.
 */
export const HEAD_BYTES = 24;
export const ITEM_BYTES = 37;
export const HASH_BYTES = 32;
const MAGIC = 0x314b4350;
const CHECK_AT = 16;
const CHECK_BYTES = 8;
/** More cannot come from us: a longer one is damage. */
const MOST_ITEMS = 1 << 20;
const MOST_BODY = 1 << 30;

/** What an item of a block is: the bytes themselves, or the hashes of the pieces that make them up. */
export type ItemKind = 'bytes' | 'pieces';

export interface BlockItem {
  readonly id: string;
  readonly kind: ItemKind;
  /** Within the uncompressed body. */
  readonly start: number;
  readonly length: number;
}

export interface BlockHead {
  readonly count: number;
  readonly storedBytes: number;
  readonly rawBytes: number;
}

export function sha256Hex(bytes: Uint8Array): string {
  return cryptography().hash('sha256', bytes, 'hex');
}

export function writeHead(
  items: readonly Omit<BlockItem, 'start'>[],
  storedBytes: number,
  rawBytes: number,
): Buffer {
  const head = Buffer.alloc(HEAD_BYTES + items.length * ITEM_BYTES);
  head.writeUInt32LE(MAGIC, 0);
  head.writeUInt32LE(items.length, 4);
  head.writeUInt32LE(storedBytes, 8);
  head.writeUInt32LE(rawBytes, 12);
  let at = HEAD_BYTES;
  for (const { id, length, kind } of items) {
    head.write(id, at, 'hex');
    head.writeUInt32LE(length, at + HASH_BYTES);
    head.writeUInt8(kind === 'pieces' ? 1 : 0, at + HASH_BYTES + 4);
    at += ITEM_BYTES;
  }
  checkOf(head).copy(head, CHECK_AT);
  return head;
}

/** Undefined: no block begins here. Its check is that of `readItems`. */
export function readHead(bytes: Buffer): BlockHead | undefined {
  if (bytes.length < HEAD_BYTES || bytes.readUInt32LE(0) !== MAGIC) return undefined;
  const head = {
    count: bytes.readUInt32LE(4),
    storedBytes: bytes.readUInt32LE(8),
    rawBytes: bytes.readUInt32LE(12),
  };
  const isPossible =
    head.count <= MOST_ITEMS &&
    head.storedBytes <= head.rawBytes &&
    head.rawBytes <= MOST_BODY &&
    head.count > 0;
  return isPossible ? head : undefined;
}

/** Takes the whole head. Undefined: damaged. */
export function readItems(head: Buffer, { count, rawBytes }: BlockHead): BlockItem[] | undefined {
  if (head.length < HEAD_BYTES + count * ITEM_BYTES) return undefined;
  // fail-closed: a head that was not written as it stands here names nothing.
  if (!checkOf(head).equals(head.subarray(CHECK_AT, CHECK_AT + CHECK_BYTES))) return undefined;
  const items: BlockItem[] = [];
  let start = 0;
  for (let at = HEAD_BYTES; items.length < count; at += ITEM_BYTES) {
    const length = head.readUInt32LE(at + HASH_BYTES);
    const kind = head.readUInt8(at + HASH_BYTES + 4) === 1 ? 'pieces' : 'bytes';
    items.push({ id: head.toString('hex', at, at + HASH_BYTES), kind, start, length });
    start += length;
  }
  return start === rawBytes ? items : undefined;
}

function checkOf(head: Buffer): Buffer {
  const hash = cryptography().createHash('sha256');
  hash.update(head.subarray(0, CHECK_AT)).update(head.subarray(HEAD_BYTES));
  return hash.digest().subarray(0, CHECK_BYTES);
}
