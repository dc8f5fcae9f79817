import { type EntryStat, isSameEntry, nodeOf, type TreeNode } from '../disk/known-tree.js';
import type { TreeScan } from '../disk/scan.js';
import type { BlobId } from '../types.js';
import type { ContentQueue } from './content-queue.js';
import { type Applied, applySingle, freshState } from './tree-changes.js';

/** Paths in places that scans pass over, followed one by one since somebody was about to write them. */
export class KeptPaths {
  readonly #scan: TreeScan;
  readonly #contents: ContentQueue;
  /** Undefined: nothing stands there. */
  readonly #nodes = new Map<string, TreeNode | undefined>();

  constructor(scan: TreeScan, contents: ContentQueue) {
    this.#scan = scan;
    this.#contents = contents;
  }

  find(path: string): TreeNode | undefined {
    return this.#nodes.get(path);
  }

  has(path: string): boolean {
    return this.#nodes.has(path);
  }

  /** From now on; its bytes are in the store when this resolves, or its state says why not. */
  async follow(path: string): Promise<void> {
    const names = path.split('/');
    for (let depth = 1; depth < names.length; depth++) {
      // Directories that will have to be made for it are followed too.
      const part = names.slice(0, depth).join('/');
      const isMissing = this.#scan.stat(part) === undefined;
      if (isMissing && this.#scan.leavesOut(part, true)) this.#nodes.set(part, undefined);
    }
    const stat = this.#scan.stat(path);
    const node = stat && nodeOf(path, undefined, stat, freshState(stat));
    this.#nodes.set(path, node);
    if (node?.state.kind !== 'file') return;
    await this.#contents.read({ absolute: this.#scan.absolute(path), node, state: node.state });
  }

  /** Adds what has changed at these paths to what a scan found. */
  look(applied: Applied): void {
    for (const path of [...this.#nodes.keys()]) {
      if (this.#scan.tree.find(path) === undefined) this.lookAt(path, applied);
      else this.#nodes.delete(path);
    }
  }

  lookAt(path: string, applied: Applied): void {
    const known = this.#nodes.get(path);
    const stat = this.#scan.stat(path);
    if (stat === undefined ? known === undefined : known && isSteady(known, stat)) return;
    const { found, undecided, node } = applySingle(path, known, stat, this.#goneAt(path));
    applied.found.push(...found);
    applied.undecided.push(...undecided);
    this.#nodes.set(path, node);
  }

  *blobs(): Iterable<BlobId> {
    for (const node of this.#nodes.values()) {
      if (node?.state.kind === 'file' && node.state.blob !== undefined) yield node.state.blob;
    }
  }

  #goneAt(path: string): number {
    for (let at = path.lastIndexOf('/'); at > 0; at = path.lastIndexOf('/', at - 1)) {
      const stat = this.#scan.stat(path.slice(0, at));
      if (stat !== undefined) return stat.ctime;
    }
    return this.#scan.tree.root.ctime;
  }
}

function isSteady(node: TreeNode, stat: EntryStat): boolean {
  return !node.isRacy && isSameEntry(node, stat);
}
