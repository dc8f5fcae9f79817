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

/** Contents by their hash, compressed, capped, outside the project, 0700/0600. */
export interface BlobStore {
  has(id: BlobId): Promise<boolean>;
  /** Undefined: there is no room for it, or the disk does not take it. */
  put(bytes: Uint8Array, id?: BlobId): Promise<BlobId | undefined>;
  /** Undefined: it is not there, or what is there does not have this hash. */
  read(id: BlobId): Promise<Uint8Array | undefined>;
  /** These contents survive a loss of power as well, not only the death of this process. */
  sync(ids: Iterable<BlobId>): Promise<void>;
  /** Bytes on disk. */
  size(): Promise<number>;
  /** Drops what `needed` does not name and no session has put for a while. */
  prune(needed: () => Promise<Iterable<BlobId>>): Promise<void>;
}

export interface BlobStoreOptions {
  /** Outside the project. Made when it is needed, 0700. */
  readonly directory: string;
  /** Bytes on disk from which on nothing more is taken. Default 2 GiB. */
  readonly maxBytes?: number | undefined;
}

/** Nothing is read or made before the first use. */
export function openBlobStore({
  directory,
  maxBytes = 2 * 1024 ** 3,
}: BlobStoreOptions): BlobStore {
  return new FileBlobStore(join(directory, 'objects'), maxBytes);
}

const ID = /^[0-9a-f]{64}$/;
/** Larger contents are compressed by a thread of Node's, so that the event loop goes on. */
const COMPRESS_ASIDE_FROM = 64 * 1024;
const FAST = { level: 1 };
/** What was put since may be needed by a session whose journal does not name it yet. */
const KEPT_MS = 2 * 24 * 60 * 60 * 1000;
const deflate = promisify(deflateRaw);
const inflate = promisify(inflateRaw);

/**
 * One compressed file for each content (`objects/ab/cdef…`), so that any number of processes can share the
 * directory: a file has its name only when it is whole.
 */
class FileBlobStore implements BlobStore {
  readonly #directory: string;
  readonly #maxBytes: number;
  /** Undefined: not looked at yet. */
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
      // fail-closed: contents that the disk does not take are named as missing.
      return undefined;
    }
  }

  async read(id: BlobId): Promise<Uint8Array | undefined> {
    if (!ID.test(id)) return undefined;
    try {
      const bytes = await inflate(readFileSync(this.#pathOf(id)));
      // fail-closed: bytes that do not have the hash they are asked for by are none.
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
      // fail-closed: a process that has just put it again believes it to be there.
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
    // fail-closed: an object that is damaged or cannot be read is written anew.
    if (touch(path) && (await this.read(id)) !== undefined) return true;
    // As if nothing of what is on its way could be compressed.
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
        // A full disk is not filled further with what could not be completed.
        rmSync(partial, { force: true });
        throw thrown;
      }
      this.#bytesOnDisk = (this.#bytesOnDisk ?? 0) + packed.length;
      return true;
    } finally {
      this.#bytesUnderWay -= bytes.length;
    }
  }

  /** A loss of power leaves empty files; no content is compressed to nothing. */
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

  /** All objects; what a killed process left of an unfinished one counts under a name of its own. */
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

/** False: it is not there, so that nobody can be kept from dropping it. */
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
    // Not made yet.
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
