import {
  closeSync,
  existsSync,
  fsyncSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { promisify } from 'node:util';
import { deflateRaw, deflateRawSync, inflateRaw } from 'node:zlib';
import { makePrivateDirectory } from '../../platform/fs/append-log.js';
import { dirname, join } from '../../platform/fs/paths.js';
import { sha256 } from '../../platform/hash.js';
import { randomBytes } from '../../platform/random.js';
import { Turns } from '../../platform/turns.js';
import type { BlobId } from '../types.js';

/** A content-addressed store: compressed, capped, outside the project, with modes 0700 and 0600. */
export interface BlobStore {
  has(id: BlobId): Promise<boolean>;
  /** Undefined when the store is full or the disk refuses. */
  put(bytes: Uint8Array, id?: BlobId): Promise<BlobId | undefined>;
  /** Undefined when the content is missing or does not match its hash. */
  read(id: BlobId): Promise<Uint8Array | undefined>;
  /** Flushes the contents to disk, so that they survive a power loss. */
  sync(ids: Iterable<BlobId>): Promise<void>;
  size(): Promise<number>;
  /** Deletes contents that `needed` does not name and that were not stored recently. */
  prune(needed: () => Promise<Iterable<BlobId>>): Promise<void>;
}

export interface BlobStoreOptions {
  /** Outside the project; created on demand with mode 0700. */
  readonly directory: string;
  /** The size on disk above which nothing more is stored. Default 2 GiB. */
  readonly maxBytes?: number | undefined;
}

/** Touches the disk only on first use. */
export function openBlobStore({
  directory,
  maxBytes = 2 * 1024 ** 3,
}: BlobStoreOptions): BlobStore {
  return new FileBlobStore(join(directory, 'objects'), maxBytes);
}

const ID = /^[0-9a-f]{64}$/;
/** Larger contents are compressed on a worker thread to keep the event loop free. */
const COMPRESS_ASIDE_FROM = 64 * 1024;
const FAST = { level: 1 };
/** Recent contents may belong to a session whose journal does not name them yet. */
const KEPT_MS = 2 * 24 * 60 * 60 * 1000;
const deflate = promisify(deflateRaw);
const inflate = promisify(inflateRaw);

/**
 * One compressed file per content (`objects/ab/cdef…`). Files are renamed into place when complete, so
 * processes can share the directory.
 */
class FileBlobStore implements BlobStore {
  readonly #directory: string;
  readonly #maxBytes: number;
  /** Undefined before the first measurement. */
  #bytesOnDisk: number | undefined;
  #bytesUnderWay = 0;

  constructor(directory: string, maxBytes: number) {
    this.#directory = directory;
    this.#maxBytes = maxBytes;
  }

  async has(id: BlobId): Promise<boolean> {
    return ID.test(id) && this.#isWritten(id);
  }

  async put(bytes: Uint8Array, id: BlobId = sha256(bytes)): Promise<BlobId | undefined> {
    try {
      return (await this.#write(id, bytes)) ? id : undefined;
    } catch {
      // fail-closed: contents that the disk refuses count as missing.
      return undefined;
    }
  }

  async read(id: BlobId): Promise<Uint8Array | undefined> {
    if (!ID.test(id)) return undefined;
    try {
      const bytes = await inflate(readFileSync(this.#pathOf(id)));
      // fail-closed: bytes that do not match their hash count as missing.
      return sha256(bytes) === id ? Uint8Array.from(bytes) : undefined;
    } catch {
      return undefined;
    }
  }

  async size(): Promise<number> {
    if (this.#bytesOnDisk !== undefined) return this.#bytesOnDisk;
    let bytes = 0;
    const turns = new Turns();
    for (const file of this.#files()) {
      bytes += file.bytes;
      await turns.pause();
    }
    this.#bytesOnDisk ??= bytes;
    return this.#bytesOnDisk;
  }

  async sync(ids: Iterable<BlobId>): Promise<void> {
    const directories = new Set<string>();
    for (const id of ids) {
      const path = this.#pathOf(id);
      if (!existsSync(path)) continue;
      syncToDisk(path);
      directories.add(dirname(path));
    }
    for (const directory of directories) syncToDisk(directory);
  }

  async prune(needed: () => Promise<Iterable<BlobId>>): Promise<void> {
    let bytesOnDisk = await this.size();
    const kept = new Set(await needed());
    const turns = new Turns();
    for (const { id, path, bytes, putAt } of this.#files()) {
      await turns.pause();
      if (kept.has(id) || isYoung(putAt)) continue;
      const aside = `${path}.dropped`;
      renameSync(path, aside);
      // fail-closed: another process may just have stored it again and rely on it.
      if (isYoung(statSync(aside).mtimeMs)) renameSync(aside, path);
      else {
        rmSync(aside);
        bytesOnDisk -= bytes;
      }
    }
    this.#bytesOnDisk = bytesOnDisk;
  }

  async #write(id: BlobId, bytes: Uint8Array): Promise<boolean> {
    const path = this.#pathOf(id);
    // fail-closed: a damaged or unreadable object is rewritten.
    if (touch(path) && (await this.read(id)) !== undefined) return true;
    // Assumes that pending contents do not compress.
    const total = (await this.size()) + this.#bytesUnderWay + bytes.length;
    if (total > this.#maxBytes) return false;
    this.#bytesUnderWay += bytes.length;
    try {
      const isSmall = bytes.length < COMPRESS_ASIDE_FROM;
      const packed = isSmall ? deflateRawSync(bytes, FAST) : await deflate(bytes, FAST);
      makePrivateDirectory(dirname(path));
      const partial = `${path}.${randomBytes(6).toString('hex')}`;
      try {
        writeFileSync(partial, packed, { mode: 0o600, flag: 'wx' });
        renameSync(partial, path);
      } catch (thrown) {
        // Removes the partial file, because the disk may be full.
        rmSync(partial, { force: true });
        throw thrown;
      }
      this.#bytesOnDisk = (this.#bytesOnDisk ?? 0) + packed.length;
      return true;
    } finally {
      this.#bytesUnderWay -= bytes.length;
    }
  }

  /** A power loss can leave empty files, and no compressed content is empty. */
  #isWritten(id: BlobId): boolean {
    try {
      return (statSync(this.#pathOf(id), { throwIfNoEntry: false })?.size ?? 0) > 0;
    } catch {
      return false;
    }
  }

  #pathOf(id: BlobId): string {
    return join(this.#directory, id.slice(0, 2), id.slice(2));
  }

  /** All objects, including leftovers of killed processes under their temporary names. */
  *#files() {
    for (const shard of namesIn(this.#directory)) {
      const directory = join(this.#directory, shard);
      for (const name of namesIn(directory)) {
        const path = join(directory, name);
        const stat = statSync(path, { throwIfNoEntry: false });
        if (stat === undefined) continue;
        yield { id: `${shard}${name}`, path, bytes: stat.size, putAt: stat.mtimeMs };
      }
    }
  }
}

function isYoung(putAt: number): boolean {
  return Date.now() - putAt < KEPT_MS;
}

/** Refreshes the file's time to keep it from being pruned; false when it is missing. */
function touch(path: string): boolean {
  try {
    const now = new Date();
    utimesSync(path, now, now);
    return true;
  } catch {
    return false;
  }
}

function namesIn(directory: string): string[] {
  try {
    return readdirSync(directory);
  } catch {
    // The directory does not exist yet.
    return [];
  }
}

function syncToDisk(path: string): void {
  const fd = openSync(path, 'r');
  try {
    fsyncSync(fd);
  } finally {
    closeSync(fd);
  }
}
