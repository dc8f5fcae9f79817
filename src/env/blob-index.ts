import { readdirSync, statSync } from 'node:fs';
import type { BlockItem, ItemKind } from './blob-format.js';
import { type Block, scanPack } from './blob-pack.js';
import { join } from './paths.js';
import { Turns } from './turns.js';

/** Where a content is. */
export interface Location {
  readonly block: Block;
  readonly kind: ItemKind;
  readonly start: number;
  readonly length: number;
}

/** Contents that no pack has: other processes' packs are looked through again after this time. */
const REFRESH_AGE_MS = 200;

/** What the packs of a directory hold, as far as they have been looked through. */
export class PackIndex {
  readonly #directory: string;
  readonly #locations = new Map<string, Location>();
  /** How far each pack has been looked through, by its path. */
  readonly #scanned = new Map<string, number>();
  #refreshedAt = Number.NEGATIVE_INFINITY;

  constructor(directory: string) {
    this.#directory = directory;
  }

  has(id: string): boolean {
    return this.#locations.has(id);
  }

  get(id: string): Location | undefined {
    return this.#locations.get(id);
  }

  add(block: Block, items: readonly BlockItem[]): void {
    for (const { id, kind, start, length } of items) {
      this.#locations.set(id, { block, kind, start, length });
    }
  }

  async load(): Promise<void> {
    const turns = new Turns();
    for (const pack of this.packs()) {
      this.#scan(pack);
      await turns.pause();
    }
  }

  /** Takes in what others have written or dropped; not more often than is sensible. */
  refresh(own: string | undefined): void {
    const now = performance.now();
    if (now - this.#refreshedAt < REFRESH_AGE_MS) return;
    this.#refreshedAt = now;
    const there = new Set(this.packs());
    for (const pack of this.#scanned.keys()) if (!there.has(pack)) this.forget(pack);
    for (const pack of there) if (pack !== own) this.#scan(pack);
  }

  /** A pack of our own, whose blocks were added as they were written. */
  finish(pack: string, size: number): void {
    this.#scanned.set(pack, size);
  }

  forget(pack: string): void {
    for (const [id, { block }] of this.#locations) {
      if (block.pack === pack) this.#locations.delete(id);
    }
    this.#scanned.delete(pack);
  }

  packs(): string[] {
    try {
      const names = readdirSync(this.#directory).filter((name) => name.endsWith('.pack'));
      return names.map((name) => join(this.#directory, name));
    } catch {
      return [];
    }
  }

  #scan(pack: string): void {
    try {
      const from = this.#scanned.get(pack) ?? 0;
      if ((statSync(pack, { throwIfNoEntry: false })?.size ?? 0) <= from) return;
      const { end, blocks } = scanPack(pack, from);
      this.#scanned.set(pack, end);
      for (const { block, items } of blocks) this.add(block, items);
    } catch {
      // It has gone, or cannot be read: what is in it is not there.
    }
  }
}
