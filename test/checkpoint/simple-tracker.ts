import { createHash } from 'node:crypto';
import { lstatSync, readdirSync, readFileSync, readlinkSync } from 'node:fs';
import path from 'node:path';
import type {
  BlobId,
  BlobStore,
  NodeState,
  TreeChange,
  TreeTracker,
} from '../../src/checkpoint/types.js';

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
      for (const id of [...kept.keys()]) if (!needed.has(id)) kept.delete(id);
    },
    sync: async () => {},
    close: async () => {},
  };
}

export function hashOf(bytes: Uint8Array): BlobId {
  return createHash('sha256').update(bytes).digest('hex');
}

/** Reads the whole tree at every look. Slow and sure. */
export function simpleTracker(root: string, store: BlobStore): TreeTracker {
  let known = new Map<string, Seen>();
  let chain: Promise<unknown> = Promise.resolve();
  const scan = async (): Promise<Map<string, Seen>> => {
    const seen = statesIn(root);
    for (const { bytes } of seen.values()) if (bytes !== undefined) await store.put(bytes);
    return seen;
  };
  const ready = scan().then((seen) => {
    known = seen;
  });
  const lookOnce = async () => {
    await ready;
    const startedAt = Date.now();
    const before = known;
    known = await scan();
    return { startedAt, finishedAt: Date.now(), changes: changesOf(root, before, known), gaps: [] };
  };
  return {
    root,
    ready,
    state: () => ({ kind: 'ready', files: known.size, gaps: [] }),
    look() {
      const look = chain.then(lookOnce);
      chain = look;
      return look;
    },
    keep: async (name) => known.get(name)?.state,
    settled: async () => {},
    known: (name) => known.get(name)?.state,
    close: async () => {},
  };
}

interface Seen {
  readonly state: NodeState;
  readonly at: number;
  readonly bytes?: Uint8Array;
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
      const at = stat.ctimeMs;
      if (stat.isSymbolicLink()) {
        seen.set(relative, { at, state: { kind: 'link', target: readlinkSync(full) } });
      } else if (stat.isDirectory()) {
        seen.set(relative, { at, state: { kind: 'directory', mode } });
        visit(relative);
      } else if (stat.isFile()) {
        const bytes = readFileSync(full);
        const state = { kind: 'file', size: bytes.length, mode, blob: hashOf(bytes) } as const;
        seen.set(relative, { at, state, bytes });
      } else seen.set(relative, { at, state: { kind: 'special' } });
    }
  };
  visit('');
  return seen;
}

function changesOf(
  root: string,
  before: ReadonlyMap<string, Seen>,
  after: ReadonlyMap<string, Seen>,
): TreeChange[] {
  const changes: TreeChange[] = [];
  for (const name of new Set([...before.keys(), ...after.keys()])) {
    const old = before.get(name)?.state;
    const now = after.get(name);
    if (JSON.stringify(old) === JSON.stringify(now?.state)) continue;
    changes.push({
      path: name,
      at: now?.at ?? parentTime(root, name),
      ...(old === undefined ? {} : { before: old }),
      ...(now === undefined ? {} : { after: now.state }),
    });
  }
  return changes;
}

function parentTime(root: string, name: string): number {
  const parent = path.dirname(name);
  if (parent === '.') return lstatSync(root).ctimeMs;
  try {
    const stat = lstatSync(path.join(root, parent));
    if (stat.isDirectory()) return stat.ctimeMs;
  } catch {
    // Gone as well: the directory above tells.
  }
  return parentTime(root, parent);
}
