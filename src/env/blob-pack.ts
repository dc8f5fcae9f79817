import { closeSync, constants, fstatSync, fsyncSync, openSync, readSync, writeSync } from 'node:fs';
import { makePrivateDirectory } from './append-log.js';
import {
  type BlockItem,
  HEAD_BYTES,
  ITEM_BYTES,
  type ItemKind,
  readHead,
  readItems,
  writeHead,
} from './blob-format.js';
import { dirname } from './paths.js';

function compression(): typeof import('node:zlib') {
  return process.getBuiltinModule('node:zlib');
}

/** One block of a pack: where its body is. */
export interface Block {
  readonly pack: string;
  readonly bodyAt: number;
  readonly storedBytes: number;
  readonly rawBytes: number;
}

export interface PackScan {
  /** Where the next block will begin; what a dead writer left behind it is skipped then. */
  readonly end: number;
  readonly blocks: readonly { readonly block: Block; readonly items: readonly BlockItem[] }[];
}

/** Reads the heads of the blocks from an offset on. A torn or damaged part is passed over. */
export function scanPack(path: string, from: number): PackScan {
  const blocks: { block: Block; items: readonly BlockItem[] }[] = [];
  const fd = openSync(path, constants.O_RDONLY | constants.O_NOFOLLOW);
  try {
    const size = fstatSync(fd).size;
    let at = from;
    while (at + HEAD_BYTES <= size) {
      const found = readBlock(fd, path, at, size);
      if (found === undefined) {
        const next = nextBlock(fd, path, at + 1, size);
        if (next === undefined) break;
        at = next;
        continue;
      }
      blocks.push(found);
      at = found.block.bodyAt + found.block.storedBytes;
    }
    return { end: at, blocks };
  } finally {
    closeSync(fd);
  }
}

function readBlock(
  fd: number,
  pack: string,
  at: number,
  size: number,
): PackScan['blocks'][number] | undefined {
  const start = readHead(bytesAt(fd, at, HEAD_BYTES));
  if (start === undefined) return undefined;
  const headBytes = HEAD_BYTES + start.count * ITEM_BYTES;
  // It may be under way: whoever writes it will have it whole when the next look comes.
  if (at + headBytes + start.storedBytes > size) return undefined;
  const items = readItems(bytesAt(fd, at, headBytes), start);
  if (items === undefined) return undefined;
  const { storedBytes, rawBytes } = start;
  return { block: { pack, bodyAt: at + headBytes, storedBytes, rawBytes }, items };
}

const SEARCH_BYTES = 1 << 20;

/** Behind damage: where the next sound block begins. */
function nextBlock(fd: number, pack: string, from: number, size: number): number | undefined {
  for (let at = from; at + HEAD_BYTES <= size; at += SEARCH_BYTES - HEAD_BYTES) {
    const bytes = bytesAt(fd, at, Math.min(SEARCH_BYTES, size - at));
    for (let hit = bytes.indexOf('PCK1'); hit !== -1; hit = bytes.indexOf('PCK1', hit + 1)) {
      if (readBlock(fd, pack, at + hit, size) !== undefined) return at + hit;
    }
  }
  return undefined;
}

function bytesAt(fd: number, position: number, length: number): Buffer {
  const bytes = Buffer.allocUnsafe(length);
  let done = 0;
  while (done < length) {
    const count = readSync(fd, bytes, done, length - done, position + done);
    if (count === 0) break;
    done += count;
  }
  return bytes.subarray(0, done);
}

/** The uncompressed body. Throws when the pack has gone or is damaged. */
export function readBody({ pack, bodyAt, storedBytes, rawBytes }: Block): Buffer {
  const fd = openSync(pack, constants.O_RDONLY | constants.O_NOFOLLOW);
  try {
    const stored = bytesAt(fd, bodyAt, storedBytes);
    if (storedBytes === rawBytes) return stored;
    return compression().inflateRawSync(stored, { maxOutputLength: rawBytes });
  } finally {
    closeSync(fd);
  }
}

export interface NewItem {
  readonly id: string;
  readonly kind: ItemKind;
  readonly bytes: Uint8Array;
}

/** A whole block, ready to be appended. The compression runs on another thread. */
export async function packBlock(
  contents: readonly NewItem[],
): Promise<{ head: Buffer; body: Buffer; items: readonly BlockItem[]; rawBytes: number }> {
  const raw = Buffer.concat(contents.map(({ bytes }) => bytes));
  const deflated = await new Promise<Buffer>((resolve, reject) =>
    compression().deflateRaw(raw, { level: 1 }, (thrown, result) =>
      thrown === null ? resolve(result) : reject(thrown),
    ),
  );
  const body = deflated.length < raw.length ? deflated : raw;
  let start = 0;
  const items = contents.map(({ id, kind, bytes }) => {
    const item = { id, kind, start, length: bytes.length };
    start += bytes.length;
    return item;
  });
  return { head: writeHead(items, body.length, raw.length), body, items, rawBytes: raw.length };
}

/** A pack that only this process writes. It is made, 0600, with the first block. */
export class PackWriter {
  readonly path: string;
  #fd: number | undefined;
  #size = 0;

  constructor(path: string) {
    this.path = path;
  }

  get size(): number {
    return this.#size;
  }

  /** Where the block begins. Throws when the disk does not take it; the pack must not be used again then. */
  append(head: Buffer, body: Buffer): number {
    const fd = this.#open();
    const at = this.#size;
    for (const bytes of [head, body]) {
      for (let done = 0; done < bytes.length; ) done += writeSync(fd, bytes, done);
    }
    this.#size += head.length + body.length;
    return at;
  }

  sync(): void {
    if (this.#fd !== undefined) fsyncSync(this.#fd);
  }

  close(): void {
    if (this.#fd !== undefined) closeSync(this.#fd);
    this.#fd = undefined;
  }

  #open(): number {
    if (this.#fd !== undefined) return this.#fd;
    makePrivateDirectory(dirname(this.path));
    // fail-closed: never a file, or a link, that somebody else put there.
    this.#fd = openSync(this.path, NEW_PACK, 0o600);
    return this.#fd;
  }
}

const NEW_PACK =
  constants.O_WRONLY |
  constants.O_APPEND |
  constants.O_CREAT |
  constants.O_EXCL |
  constants.O_NOFOLLOW;
