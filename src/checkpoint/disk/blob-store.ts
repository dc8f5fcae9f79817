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
  writeFileSync,
} from 'node:fs';
import { promisify } from 'node:util';
import { deflateRaw, deflateRawSync, inflateRaw } from 'node:zlib';
import { makePrivateDirectory } from '../../platform/fs/append-log.js';
import { isFileLocked, withFileLock } from '../../platform/fs/file-lock.js';
import { dirname, join } from '../../platform/fs/paths.js';
import { sha256 } from '../../platform/hash.js';
import { processAlive } from '../../platform/process/process-tree.js';
import { randomBytes } from '../../platform/random.js';
import { Turns } from '../../platform/turns.js';
import type { BlobId, BlobStore } from '../types.js';

/** A store that an open tree can hold its contents in. */
export interface CheckpointStore extends BlobStore {
  /** Names the bytes at once; they can be read from now on, and must not be changed. */
  offer(bytes: Uint8Array): { readonly id: BlobId; readonly stored: Promise<boolean> };
  /** The contents named are needed for as long as the function that this gives is not called. */
  pin(ids: () => Iterable<BlobId>): () => void;
}

export interface BlobStoreOptions {
  /** Outside the project. Made when it is needed, 0700. */
  readonly directory: string;
  /** Bytes on disk from which on nothing more is taken. Default 2 GiB. */
  readonly maxBytes?: number | undefined;
}

/** Nothing is read or made before the first use. */
export function openBlobStore(options: BlobStoreOptions): CheckpointStore {
  return new FileBlobStore(options);
}

const DEFAULT_BYTES = 2 * 1024 ** 3;

const ID = /^[0-9a-f]{64}$/;
/** Larger contents are compressed by a thread of Node's, so that the event loop goes on. */
const COMPRESS_ASIDE_FROM = 64 * 1024;
const FAST = { level: 1 };
const LOCK_STALE_MS = 10 * 60_000;
const PRUNE_WAIT_MS = 3_000;
const POLL_MS = 25;
const deflate = promisify(deflateRaw);
const inflate = promisify(inflateRaw);

/**
 * Contents by hash, one compressed file each (`objects/ab/cdef…`), so that any number of processes can
 * share the directory: a file has its name only when it is whole.
 */
class FileBlobStore implements CheckpointStore {
  readonly #objects: string;
  readonly #users: string;
  readonly #lock: string;
  readonly #maxBytes: number;
  /** Contents on their way to the disk. */
  readonly #offered = new Map<string, { bytes: Uint8Array; stored: Promise<boolean> }>();
  readonly #pins = new Set<() => Iterable<string>>();
  #ownUser: string | undefined;
  #bytesOnDisk = 0;
  #bytesUnderWay = 0;
  #opened: Promise<boolean> | undefined;

  constructor({ directory, maxBytes = DEFAULT_BYTES }: BlobStoreOptions) {
    this.#objects = join(directory, 'objects');
    this.#users = join(directory, 'users');
    this.#lock = join(directory, 'prune.lock');
    this.#maxBytes = maxBytes;
  }

  async has(id: string): Promise<boolean> {
    return (await this.#open()) && ID.test(id) && this.#isWritten(id);
  }

  /** Undefined: there is no room for it, or the disk does not take it. */
  async put(bytes: Uint8Array): Promise<string | undefined> {
    const { id, stored } = this.offer(bytes);
    return (await stored) ? id : undefined;
  }

  offer(bytes: Uint8Array): { readonly id: string; readonly stored: Promise<boolean> } {
    const id = sha256(bytes);
    const same = this.#offered.get(id);
    if (same !== undefined) return { id, stored: same.stored };
    const stored = this.#write(id, bytes)
      // fail-closed: contents that the disk does not take are named as missing.
      .catch(() => false)
      .finally(() => this.#offered.delete(id));
    this.#offered.set(id, { bytes, stored });
    return { id, stored };
  }

  async read(id: string): Promise<Uint8Array | undefined> {
    const offered = this.#offered.get(id);
    if (offered !== undefined) return Uint8Array.from(offered.bytes);
    return ID.test(id) ? await this.#readObject(id) : undefined;
  }

  async size(): Promise<number> {
    await this.#open();
    return this.#bytesOnDisk;
  }

  async sync(ids: Iterable<string>): Promise<void> {
    await this.#allStored();
    const directories = new Set<string>();
    for (const id of ids) {
      const path = this.#pathOf(id);
      if (!existsSync(path)) continue;
      syncToDisk(path);
      directories.add(dirname(path));
    }
    for (const directory of directories) syncToDisk(directory);
  }

  pin(ids: () => Iterable<string>): () => void {
    this.#pins.add(ids);
    return () => this.#pins.delete(ids);
  }

  /** Drops all but what `needed` names, unless another process opens the store meanwhile. */
  async prune(needed: () => Promise<Iterable<string>>): Promise<void> {
    if (!(await this.#open())) return;
    await this.#allStored();
    await withFileLock(this.#lock, { staleMs: LOCK_STALE_MS, waitMs: 0 }, async () => {
      if (this.#hasOtherUsers()) return;
      const usersChangedAt = statSync(this.#users).mtimeMs;
      const kept = new Set(await needed());
      for (const ids of this.#pins) for (const id of ids()) kept.add(id);
      const turns = new Turns();
      for (const { id, path, bytes } of this.#files()) {
        await turns.pause();
        if (kept.has(id) || this.#offered.has(id)) continue;
        // fail-closed: a process that came, even one that has left again, may need what was not needed before.
        if (statSync(this.#users).mtimeMs !== usersChangedAt) return;
        rmSync(path, { force: true });
        this.#bytesOnDisk -= bytes;
      }
    });
  }

  async close(): Promise<void> {
    await this.#allStored();
    if (this.#ownUser !== undefined) rmSync(this.#ownUser, { force: true });
    this.#ownUser = undefined;
  }

  async #write(id: string, bytes: Uint8Array): Promise<boolean> {
    if (!(await this.#open())) return false;
    const path = this.#pathOf(id);
    // fail-closed: an object that is damaged or cannot be read is written anew.
    if (this.#isWritten(id) && (await this.#readObject(id)) !== undefined) return true;
    // As if nothing of what is on its way could be compressed.
    const total = this.#bytesOnDisk + this.#bytesUnderWay + bytes.length;
    if (total > this.#maxBytes) return false;
    this.#bytesUnderWay += bytes.length;
    try {
      const packed =
        bytes.length < COMPRESS_ASIDE_FROM
          ? deflateRawSync(bytes, FAST)
          : await deflate(bytes, FAST);
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
      this.#bytesOnDisk += packed.length;
      return true;
    } finally {
      this.#bytesUnderWay -= bytes.length;
    }
  }

  async #allStored(): Promise<void> {
    await Promise.all([...this.#offered.values()].map(({ stored }) => stored));
  }

  /** A loss of power leaves empty files; no content is compressed to nothing. */
  #isWritten(id: string): boolean {
    try {
      return (statSync(this.#pathOf(id), { throwIfNoEntry: false })?.size ?? 0) > 0;
    } catch {
      return false;
    }
  }

  async #readObject(id: string): Promise<Uint8Array | undefined> {
    try {
      const bytes = await inflate(readFileSync(this.#pathOf(id)));
      // fail-closed: bytes that do not have the hash they are asked for by are none.
      return sha256(bytes) === id ? Uint8Array.from(bytes) : undefined;
    } catch {
      return undefined;
    }
  }

  #pathOf(id: string): string {
    return join(this.#objects, id.slice(0, 2), id.slice(2));
  }

  #open(): Promise<boolean> {
    this.#opened ??= this.#enter();
    return this.#opened;
  }

  /** False: without its directory the store takes nothing and has nothing. */
  async #enter(): Promise<boolean> {
    try {
      makePrivateDirectory(this.#objects);
      makePrivateDirectory(this.#users);
      const own = join(this.#users, `${process.pid}-${randomBytes(6).toString('hex')}`);
      writeFileSync(own, '', { mode: 0o600, flag: 'wx' });
      this.#ownUser = own;
      // A process that drops contents looked for users before this one was listed.
      const deadline = performance.now() + PRUNE_WAIT_MS;
      while (isFileLocked(this.#lock, LOCK_STALE_MS) && performance.now() < deadline) {
        await new Promise((resolve) => setTimeout(resolve, POLL_MS));
      }
      const turns = new Turns();
      for (const { bytes } of this.#files()) {
        this.#bytesOnDisk += bytes;
        await turns.pause();
      }
      return true;
    } catch {
      return false;
    }
  }

  /** All objects; what a killed process left of an unfinished one counts under a name of its own. */
  *#files(): Iterable<{ readonly id: string; readonly path: string; readonly bytes: number }> {
    for (const shard of readdirSync(this.#objects)) {
      const directory = join(this.#objects, shard);
      for (const name of readdirSync(directory)) {
        const path = join(directory, name);
        const stat = statSync(path, { throwIfNoEntry: false });
        if (stat !== undefined) yield { id: `${shard}${name}`, path, bytes: stat.size };
      }
    }
  }

  #hasOtherUsers(): boolean {
    let found = false;
    for (const name of readdirSync(this.#users)) {
      const path = join(this.#users, name);
      if (path === this.#ownUser) continue;
      const pid = Number.parseInt(name, 10);
      if (Number.isSafeInteger(pid) && pid > 0 && processAlive(pid)) found = true;
      else rmSync(path, { force: true });
    }
    return found;
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
