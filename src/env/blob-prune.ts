import { readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { makePrivateDirectory } from './append-log.js';
import { HASH_BYTES } from './blob-format.js';
import { type NewItem, scanPack } from './blob-pack.js';
import { isFileLocked, withFileLock } from './file-lock.js';
import { join } from './paths.js';
import { processAlive } from './process-tree.js';
import { randomBytes } from './random.js';
import { nextTurn } from './turns.js';

const LOCK_STALE_MS = 10 * 60_000;
const LOCK_WAIT_MS = 3_000;
const POLL_MS = 25;

/** Who has a store open: contents are only dropped by a process that is alone with it. */
export class StoreUsers {
  readonly #directory: string;
  readonly #lock: string;
  #own: string | undefined;

  constructor(directory: string) {
    this.#directory = join(directory, 'users');
    this.#lock = join(directory, 'prune.lock');
  }

  async enter(): Promise<void> {
    makePrivateDirectory(this.#directory);
    const name = `${process.pid}-${randomBytes(6).toString('hex')}`;
    writeFileSync(join(this.#directory, name), '', { mode: 0o600, flag: 'wx' });
    this.#own = name;
    // Whoever drops contents looked for users before we were one.
    const deadline = performance.now() + LOCK_WAIT_MS;
    while (isFileLocked(this.#lock, LOCK_STALE_MS) && performance.now() < deadline) {
      await new Promise((resolve) => setTimeout(resolve, POLL_MS));
    }
  }

  leave(): void {
    if (this.#own !== undefined) rmSync(join(this.#directory, this.#own), { force: true });
    this.#own = undefined;
  }

  /** Runs the work only where nobody else has the store open, and nobody enters meanwhile unnoticed. */
  async alone(work: () => Promise<void>): Promise<void> {
    await withFileLock(this.#lock, { staleMs: LOCK_STALE_MS, waitMs: 0 }, async () => {
      if (!this.#hasOthers()) await work();
    });
  }

  #hasOthers(): boolean {
    let found = false;
    for (const name of readdirSync(this.#directory)) {
      if (name === this.#own) continue;
      const pid = Number.parseInt(name, 10);
      if (Number.isSafeInteger(pid) && pid > 0 && processAlive(pid)) found = true;
      else rmSync(join(this.#directory, name), { force: true });
    }
    return found;
  }
}

/** What dropping contents asks of the store. */
export interface PruneHost {
  readonly packs: string;
  readonly users: StoreUsers;
  readonly maxBytes: number;
  closeOwn(): void;
  read(id: string): NewItem | undefined;
  /** Into a new pack. */
  write(item: NewItem): Promise<boolean>;
  /** What was written is on the disk. */
  sync(): void;
  forget(pack: string): void;
}

/**
 * A store that has reached this share of its cap is brought under the lower one, so that there is room
 * for a while. It never gets over its cap: waiting for that would be waiting for ever.
 */
const START_SHARE = 0.8;
const TARGET_SHARE = 0.6;

/**
 * Packs without anything that is needed go, whatever the size. In a store that is nearly full, packs with
 * some of it are written anew without the rest, oldest first.
 */
export async function pruneStore(host: PruneHost, needed: ReadonlySet<string>): Promise<void> {
  await host.users.alone(async () => {
    host.closeOwn();
    const kept = withPieces(host, needed);
    const packs = packsByAge(host.packs);
    let total = packs.reduce((sum, { bytes }) => sum + bytes, 0);
    const isNearlyFull = total > host.maxBytes * START_SHARE;
    for (const { path, bytes } of packs) {
      await nextTurn();
      const wanted = wantedItems(path, kept);
      const isShrunk = isNearlyFull && total > host.maxBytes * TARGET_SHARE;
      if (wanted === undefined || (wanted.ids.length > 0 && !(isShrunk && wanted.isPart))) continue;
      if (!(await moved(host, wanted.ids))) return;
      rmSync(path, { force: true });
      host.forget(path);
      total -= bytes - wanted.bytes;
    }
  });
}

/** A content in pieces needs its pieces. */
function withPieces(host: PruneHost, needed: ReadonlySet<string>): ReadonlySet<string> {
  const all = new Set(needed);
  for (const id of needed) {
    let item: NewItem | undefined;
    try {
      item = host.read(id);
    } catch {
      // Its pack has gone: there is nothing of it to keep.
    }
    if (item?.kind !== 'pieces') continue;
    const list = Buffer.from(item.bytes);
    for (let at = 0; at < list.length; at += HASH_BYTES) {
      all.add(list.toString('hex', at, at + HASH_BYTES));
    }
  }
  return all;
}

function packsByAge(directory: string): { path: string; bytes: number }[] {
  return readdirSync(directory)
    .filter((name) => name.endsWith('.pack'))
    .flatMap((name) => {
      const path = join(directory, name);
      const stat = statSync(path, { throwIfNoEntry: false });
      return stat === undefined ? [] : [{ path, bytes: stat.size, at: stat.mtimeMs }];
    })
    .sort((one, other) => one.at - other.at);
}

/** Undefined: the pack cannot be read, so nothing is done to it. */
function wantedItems(
  path: string,
  kept: ReadonlySet<string>,
): { ids: string[]; bytes: number; isPart: boolean } | undefined {
  try {
    const ids: string[] = [];
    let bytes = 0;
    let isPart = false;
    for (const { block, items } of scanPack(path, 0).blocks) {
      const ratio = block.storedBytes / Math.max(1, block.rawBytes);
      for (const { id, length } of items) {
        if (kept.has(id)) {
          ids.push(id);
          bytes += length * ratio;
        } else isPart = true;
      }
    }
    return { ids, bytes, isPart };
  } catch {
    return undefined;
  }
}

/** fail-closed: unless all of it is in the new pack the old one stays. */
async function moved(host: PruneHost, ids: readonly string[]): Promise<boolean> {
  try {
    const writes = ids.map((id) => {
      const item = host.read(id);
      return item === undefined ? Promise.resolve(false) : host.write(item);
    });
    if ((await Promise.all(writes)).includes(false)) return false;
    host.sync();
    return true;
  } catch {
    return false;
  }
}
