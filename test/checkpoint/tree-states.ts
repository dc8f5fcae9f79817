import { createHash } from 'node:crypto';
import { lstatSync, readdirSync, readFileSync, readlinkSync } from 'node:fs';
import path from 'node:path';
import type { BlobStore } from '../../src/checkpoint/disk/blob-store.js';
import type { BlobId, NodeState } from '../../src/checkpoint/types.js';

/** Keeps everything in memory. */
export function memoryStore(): BlobStore & { readonly kept: Map<BlobId, Uint8Array> } {
  const kept = new Map<BlobId, Uint8Array>();
  return {
    kept,
    has: async (id) => kept.has(id),
    async put(bytes) {
      const id = hashOf(bytes);
      kept.set(id, Uint8Array.from(bytes));
      return id;
    },
    read: async (id) => kept.get(id),
    size: async () => [...kept.values()].reduce((sum, bytes) => sum + bytes.length, 0),
    async prune(needed) {
      const ids = new Set(await needed());
      for (const id of [...kept.keys()]) if (!ids.has(id)) kept.delete(id);
    },
    sync: async () => {},
  };
}

function hashOf(bytes: Uint8Array): BlobId {
  return createHash('sha256').update(bytes).digest('hex');
}

interface Seen {
  readonly state: NodeState;
}

/** What stands in a tree, by path. */
export function statesIn(root: string): Map<string, Seen> {
  const seen = new Map<string, Seen>();
  const visit = (prefix: string): void => {
    for (const name of readdirSync(path.join(root, prefix)).sort()) {
      if (name === '.git') continue;
      const relative = prefix === '' ? name : `${prefix}/${name}`;
      const full = path.join(root, relative);
      const stat = lstatSync(full);
      const mode = stat.mode & 0o7777;
      if (stat.isSymbolicLink()) {
        seen.set(relative, { state: { kind: 'link', target: readlinkSync(full) } });
      } else if (stat.isDirectory()) {
        seen.set(relative, { state: { kind: 'directory', mode } });
        visit(relative);
      } else if (stat.isFile()) {
        const bytes = readFileSync(full);
        const state = { kind: 'file', size: bytes.length, mode, blob: hashOf(bytes) } as const;
        seen.set(relative, { state });
      } else seen.set(relative, { state: { kind: 'special' } });
    }
  };
  visit('');
  return seen;
}
