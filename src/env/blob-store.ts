import { statSync } from 'node:fs';
import { makePrivateDirectory } from './append-log.js';
import { pieceEnd } from './blob-chunk.js';
import { HASH_BYTES, HEAD_BYTES, ITEM_BYTES, sha256Hex } from './blob-format.js';
import { PackIndex } from './blob-index.js';
import { type Block, type NewItem, PackWriter, packBlock, readBody } from './blob-pack.js';
import { type PruneHost, pruneStore, StoreUsers } from './blob-prune.js';
import { join } from './paths.js';
import { randomBytes } from './random.js';
import { nextTurn, Turns } from './turns.js';

export interface BlobStoreOptions {
  /** Made when it is needed, 0700. */
  readonly directory: string;
  /** Bytes on disk from which on nothing more is taken. */
  readonly maxBytes: number;
}

/** Contents from this length on are cut into pieces that versions of a file share. */
const CUT_FROM = 64 * 1024;
/** Contents are compressed together up to this size. */
const BLOCK_BYTES = 256 * 1024;
const BLOCK_ITEMS = 4096;
/** A pack that is longer is closed, so that old contents can be dropped by the file. */
const PACK_BYTES = 32 * 1024 * 1024;
/** Blocks that are compressed at once; more contents wait, so that memory stays bounded. */
const MOST_BLOCKS = 4;
/** The sum of what others have written is asked for again after this time. */
const SIZE_AGE_MS = 5_000;
const BODIES_KEPT = 4;

interface Waiting extends NewItem {
  readonly done: (isStored: boolean) => void;
}

/**
 * Contents by hash in append-only packs, one per process, so that any number of processes can share the
 * directory. What there is follows from the packs alone; a torn end of a pack hides nothing else.
 */
export class PackStore {
  readonly #packs: string;
  readonly #maxBytes: number;
  readonly #users: StoreUsers;
  readonly #index: PackIndex;
  readonly #underWay = new Map<string, Promise<boolean>>();
  readonly #offered = new Map<string, { bytes: Uint8Array; stored: Promise<boolean> }>();
  readonly #pins = new Set<() => Iterable<string>>();
  #bodies: { readonly block: Block; readonly body: Buffer }[] = [];
  #waiting: Waiting[] = [];
  #waitingBytes = 0;
  #bytesUnderWay = 0;
  #flushing = 0;
  #isFlushSet = false;
  #writer: PackWriter | undefined;
  #ready: Promise<void> | undefined;
  #othersBytes = { at: Number.NEGATIVE_INFINITY, bytes: 0 };
  #hasFailed = false;

  constructor({ directory, maxBytes }: BlobStoreOptions) {
    this.#packs = join(directory, 'packs');
    this.#maxBytes = maxBytes;
    this.#index = new PackIndex(this.#packs);
    this.#users = new StoreUsers(directory);
  }

  async has(id: string): Promise<boolean> {
    await this.#open();
    return this.#index.has(id);
  }

  /** Undefined: there is no room for it, or the disk does not take it. */
  async put(bytes: Uint8Array): Promise<string | undefined> {
    const { id, stored } = this.offer(bytes);
    return (await stored) ? id : undefined;
  }

  /** Names the bytes at once; they can be read from now on, and must not be changed. */
  offer(bytes: Uint8Array): { readonly id: string; readonly stored: Promise<boolean> } {
    const id = sha256Hex(bytes);
    if (this.#index.has(id)) return { id, stored: Promise.resolve(true) };
    const same = this.#offered.get(id);
    if (same !== undefined) return { id, stored: same.stored };
    const stored = this.#take(id, bytes).finally(() => this.#offered.delete(id));
    this.#offered.set(id, { bytes, stored });
    return { id, stored };
  }

  async #take(id: string, bytes: Uint8Array): Promise<boolean> {
    await this.#open();
    if (this.#index.has(id)) return true;
    if (bytes.length < CUT_FROM) return this.#add({ id, kind: 'bytes', bytes });
    return this.#putPieces(id, bytes);
  }

  async read(id: string): Promise<Uint8Array | undefined> {
    const offered = this.#offered.get(id);
    if (offered !== undefined) return Uint8Array.from(offered.bytes);
    await this.#open();
    try {
      const found = this.#readNow(id);
      if (found !== undefined) return found;
    } catch {
      // Another process may have moved it into a new pack.
    }
    this.#index.refresh(this.#writer?.path);
    try {
      return this.#readNow(id);
    } catch {
      return undefined;
    }
  }

  async size(): Promise<number> {
    await this.#open();
    return this.#sizeNow();
  }

  /** What has been put so far survives a loss of power. */
  async sync(): Promise<void> {
    await this.#allStored();
    this.#writer?.sync();
  }

  /** Contents that an open tree still stands on are never dropped. */
  pin(ids: () => Iterable<string>): () => void {
    this.#pins.add(ids);
    return () => this.#pins.delete(ids);
  }

  async prune(needed: ReadonlySet<string>): Promise<void> {
    await this.#open();
    await this.#allStored();
    const kept = new Set(needed);
    for (const ids of this.#pins) for (const id of ids()) kept.add(id);
    const host: PruneHost = {
      packs: this.#packs,
      users: this.#users,
      maxBytes: this.#maxBytes,
      // A pack is dropped by name: what is written from now on goes to another one.
      closeOwn: () => this.#closeWriter(),
      read: (id) => this.#readItem(id),
      write: (item) => this.#add(item, true),
      sync: () => this.#writer?.sync(),
      forget: (pack) => this.#forgetPack(pack),
    };
    await pruneStore(host, kept);
    this.#othersBytes.at = Number.NEGATIVE_INFINITY;
  }

  async close(): Promise<void> {
    await this.#allStored();
    this.#closeWriter();
    this.#users.leave();
    this.#bodies = [];
  }

  async #allStored(): Promise<void> {
    await Promise.all([...this.#offered.values()].map(({ stored }) => stored));
    await Promise.all(this.#underWay.values());
  }

  #open(): Promise<void> {
    this.#ready ??= this.#load();
    return this.#ready;
  }

  async #load(): Promise<void> {
    try {
      makePrivateDirectory(this.#packs);
      await this.#users.enter();
      await this.#index.load();
    } catch {
      // fail-closed: without its directory the store takes nothing and has nothing.
      this.#hasFailed = true;
    }
  }

  #forgetPack(pack: string): void {
    this.#index.forget(pack);
    this.#bodies = this.#bodies.filter(({ block }) => block.pack !== pack);
  }

  #readItem(id: string): NewItem | undefined {
    const location = this.#index.get(id);
    if (location === undefined) return undefined;
    const body = this.#body(location.block);
    const bytes = body.subarray(location.start, location.start + location.length);
    return { id, kind: location.kind, bytes };
  }

  #readNow(id: string): Uint8Array | undefined {
    const item = this.#readItem(id);
    if (item === undefined) return undefined;
    let whole = item.bytes;
    if (item.kind === 'pieces') {
      const pieces: Uint8Array[] = [];
      for (let at = 0; at < whole.length; at += HASH_BYTES) {
        const pieceId = Buffer.from(whole.subarray(at, at + HASH_BYTES)).toString('hex');
        const piece = this.#readItem(pieceId);
        if (piece === undefined || piece.kind !== 'bytes') return undefined;
        pieces.push(piece.bytes);
      }
      whole = Buffer.concat(pieces);
    }
    // fail-closed: bytes that do not have the hash they are asked for by are none.
    return sha256Hex(whole) === id ? Uint8Array.from(whole) : undefined;
  }

  #body(block: Block): Buffer {
    const known = this.#bodies.find((one) => one.block === block);
    if (known !== undefined) return known.body;
    const body = readBody(block);
    this.#bodies = [{ block, body }, ...this.#bodies.slice(0, BODIES_KEPT - 1)];
    return body;
  }

  async #putPieces(id: string, bytes: Uint8Array): Promise<boolean> {
    const list: string[] = [];
    const pieces: Promise<boolean>[] = [];
    const turns = new Turns();
    for (let from = 0; from < bytes.length; ) {
      const end = pieceEnd(bytes, from);
      const piece = bytes.subarray(from, end);
      const pieceId = sha256Hex(piece);
      list.push(pieceId);
      if (!this.#index.has(pieceId)) {
        pieces.push(this.#add({ id: pieceId, kind: 'bytes', bytes: piece }));
      }
      from = end;
      await turns.pause();
    }
    // The list comes last: where it is, the pieces are.
    if ((await Promise.all(pieces)).includes(false)) return false;
    return this.#add({ id, kind: 'pieces', bytes: Buffer.from(list.join(''), 'hex') });
  }

  /** Resolves when it is in the pack, false when it could not be put there. */
  #add(item: NewItem, overCap = false): Promise<boolean> {
    if (this.#hasFailed) return Promise.resolve(false);
    const same = this.#underWay.get(item.id);
    if (same !== undefined) return same;
    const length = item.bytes.length + HEAD_BYTES + ITEM_BYTES;
    // As if nothing of what is on its way could be compressed.
    if (!overCap && this.#sizeNow() + this.#bytesUnderWay + length > this.#maxBytes) {
      return Promise.resolve(false);
    }
    this.#bytesUnderWay += length;
    const stored = this.#roomFor(item).finally(() => {
      this.#bytesUnderWay -= length;
      this.#underWay.delete(item.id);
    });
    this.#underWay.set(item.id, stored);
    return stored;
  }

  #roomFor(item: NewItem): Promise<boolean> {
    return new Promise<boolean>((done) => {
      this.#waiting.push({ ...item, done });
      this.#waitingBytes += item.bytes.length;
      if (this.#waitingBytes >= BLOCK_BYTES || this.#waiting.length >= BLOCK_ITEMS) {
        void this.#flush();
      } else this.#flushSoon();
    });
  }

  /** Whatever comes until then shares the block. */
  #flushSoon(): void {
    if (this.#isFlushSet) return;
    this.#isFlushSet = true;
    void nextTurn().then(() => {
      this.#isFlushSet = false;
      do void this.#flush();
      while (this.#flushing < MOST_BLOCKS && this.#waitingBytes >= BLOCK_BYTES);
    });
  }

  /** As much as makes a block, in the order in which it came. */
  #takeWaiting(): Waiting[] {
    let count = 0;
    let bytes = 0;
    while (count < this.#waiting.length && count < BLOCK_ITEMS && bytes < BLOCK_BYTES) {
      bytes += this.#waiting[count++]?.bytes.length ?? 0;
    }
    this.#waitingBytes -= bytes;
    return this.#waiting.splice(0, count);
  }

  async #flush(): Promise<void> {
    if (this.#flushing >= MOST_BLOCKS || this.#waiting.length === 0) return;
    const taken = this.#takeWaiting();
    this.#flushing++;
    let isStored = false;
    try {
      this.#write(await packBlock(taken));
      isStored = true;
    } catch {
      // The pack may end in half a block: nothing is appended to it any more.
      this.#closeWriter();
    } finally {
      this.#flushing--;
      for (const { done } of taken) done(isStored);
      if (this.#waiting.length > 0) this.#flushSoon();
    }
  }

  #write({ head, body, items, rawBytes }: Awaited<ReturnType<typeof packBlock>>): void {
    this.#writer ??= new PackWriter(
      join(this.#packs, `${process.pid}-${randomBytes(8).toString('hex')}.pack`),
    );
    const { path: pack } = this.#writer;
    const at = this.#writer.append(head, body);
    const bodyAt = at + head.length;
    const block: Block = { pack, bodyAt, storedBytes: body.length, rawBytes };
    this.#index.add(block, items);
    if (this.#writer.size >= PACK_BYTES) this.#closeWriter();
  }

  #closeWriter(): void {
    const writer = this.#writer;
    this.#writer = undefined;
    if (writer === undefined) return;
    try {
      this.#index.finish(writer.path, writer.size);
      writer.close();
    } catch {
      // Every write was checked when it was made.
    }
    this.#othersBytes.at = Number.NEGATIVE_INFINITY;
  }

  #sizeNow(): number {
    const now = performance.now();
    if (now - this.#othersBytes.at > SIZE_AGE_MS) {
      let bytes = 0;
      for (const path of this.#index.packs()) {
        if (path === this.#writer?.path) continue;
        bytes += statSync(path, { throwIfNoEntry: false })?.size ?? 0;
      }
      this.#othersBytes = { at: now, bytes };
    }
    return this.#othersBytes.bytes + (this.#writer?.size ?? 0);
  }
}
