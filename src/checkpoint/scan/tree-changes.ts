import { Turns } from '../../platform/turns.js';
import {
  type EntryStat,
  type KnownTree,
  nodeOf,
  type Observation,
  pathOf,
  type TreeNode,
  type TreeState,
} from '../disk/known-tree.js';
import type { TreeChange } from '../types.js';
import { seenHash } from './content-queue.js';

/** A file whose bytes have to be read before it can be said whether it changed. */
export interface Undecided {
  readonly path: string;
  readonly node: TreeNode;
  readonly stat: EntryStat;
  readonly before: TreeState | undefined;
  /** Not told as a change: it only became known. */
  readonly isSilent: boolean;
}

/** A change as it is gathered. */
export interface Found {
  readonly path: string;
  readonly before?: TreeState;
  readonly after?: TreeState;
  readonly at: number;
  readonly node?: TreeNode;
  readonly ino?: number;
}

export interface Applied {
  readonly found: Found[];
  readonly undecided: Undecided[];
}

/**
 * Brings the tree up to date with what a scan observed. `applied` is filled as it goes, so that what the
 * tree has taken in is told even where the rest fails.
 */
export async function applyObservations(
  tree: KnownTree,
  observations: readonly Observation[],
  isSilent: boolean,
  applied: Applied = { found: [], undecided: [] },
): Promise<Applied> {
  const gone: { nodes: readonly TreeNode[]; parent: TreeNode }[] = [];
  const takeOut = (node: TreeNode): void => {
    gone.push({ nodes: tree.remove(node), parent: node.parent ?? tree.root });
  };
  const turns = new Turns();
  const takeIn = ({ path, stat, isAdopted }: Observation): void => {
    const node = tree.find(path);
    if (stat === undefined) {
      if (node !== undefined) takeOut(node);
      return;
    }
    const silent = isSilent || isAdopted === true;
    if (node !== undefined && node.state.kind === stat.kind) {
      update(applied, path, node, stat);
      return;
    }
    let before: TreeState | undefined;
    if (node !== undefined) {
      before = node.state;
      // Only what was in it has gone; at the path itself something else stands.
      for (const child of [...(node.children?.values() ?? [])]) takeOut(child);
      tree.remove(node);
    }
    const added = tree.add(path, stat, freshState(stat));
    if (added !== undefined)
      announce(applied, { path, node: added, stat, before, isSilent: silent });
  };
  try {
    for (const [index, observation] of observations.entries()) {
      if (index % 256 === 255) await turns.pause();
      takeIn(observation);
    }
  } finally {
    for (const { nodes, parent } of gone) {
      const at = standing(tree, parent).ctime;
      for (const [index, node] of nodes.entries()) {
        if (index % 256 === 255) await turns.pause();
        // It still knows where it stood.
        applied.found.push({ path: pathOf(node), before: node.state, at, ino: node.ino });
      }
    }
  }
  return applied;
}

/** The same for a path that is followed on its own, in a place that scans pass over. */
export function applySingle(
  path: string,
  known: TreeNode | undefined,
  stat: EntryStat | undefined,
  goneAt: number,
): Applied & { readonly node: TreeNode | undefined } {
  const applied: Applied = { found: [], undecided: [] };
  if (stat === undefined) {
    if (known !== undefined) applied.found.push({ path, before: known.state, at: goneAt });
    return { ...applied, node: undefined };
  }
  if (known !== undefined && known.state.kind === stat.kind) {
    update(applied, path, known, stat);
    return { ...applied, node: known };
  }
  const node = nodeOf(path, undefined, stat, freshState(stat));
  announce(applied, { path, node, stat, before: known?.state, isSilent: false });
  return { ...applied, node };
}

function announce(applied: Applied, one: Undecided): void {
  if (one.stat.kind === 'file') applied.undecided.push(one);
  else if (!one.isSilent) {
    const { path, node, stat, before } = one;
    applied.found.push({
      path,
      before,
      after: node.state,
      at: stat.ctime,
      node,
    });
  }
}

function update(applied: Applied, path: string, node: TreeNode, stat: EntryStat): void {
  const before = node.state;
  const { ino, ctime, size, mode } = stat;
  Object.assign(node, { ino, ctime, size, mode });
  if (stat.kind === 'file') {
    node.state = freshState(stat);
    applied.undecided.push({ path, node, stat, before, isSilent: false });
    return;
  }
  const after = freshState(stat);
  if (isSameState(before, after)) return;
  node.state = after;
  applied.found.push({ path, before, after, at: ctime, node });
}

export function freshState({ kind, size, mode, target = '' }: EntryStat): TreeState {
  switch (kind) {
    case 'file':
      return { kind, size, mode, unstored: 'not-yet' };
    case 'directory':
      return { kind, mode };
    case 'link':
      return { kind, target };
    case 'special':
      return { kind };
  }
}

/** Whether nothing has changed for anybody who reads it. Files whose bytes are not known differ. */
export function isSameState(one: TreeState, other: TreeState): boolean {
  if (one.kind === 'file' && other.kind === 'file') {
    return one.mode === other.mode && isSameContent(one, other);
  }
  if (one.kind === 'directory' && other.kind === 'directory') return one.mode === other.mode;
  if (one.kind === 'link' && other.kind === 'link') return one.target === other.target;
  return one.kind === 'special' && other.kind === 'special';
}

/** Names what has only moved: another path of this look had the same inode and the same bytes. */
export async function withRenames(found: readonly Found[]): Promise<TreeChange[]> {
  const gone = new Map<number, Found>();
  for (const one of found) {
    if (one.after === undefined && one.ino !== undefined) gone.set(one.ino, one);
  }
  const changes: TreeChange[] = [];
  const turns = new Turns();
  for (const { node, ino: _, ...change } of found) {
    if (changes.length % 256 === 255) await turns.pause();
    const { before, after } = change;
    const from = before === undefined && node !== undefined ? gone.get(node.ino) : undefined;
    const isMoved =
      from?.before !== undefined &&
      after !== undefined &&
      (after.kind === 'file' || after.kind === 'link') &&
      isSameContent(from.before, after);
    changes.push(isMoved ? { ...change, renamedFrom: from.path } : change);
  }
  return changes;
}

function isSameContent(one: TreeState, other: TreeState): boolean {
  if (one.kind === 'file' && other.kind === 'file') {
    const hash = seenHash(one);
    return hash !== undefined && hash === seenHash(other);
  }
  return one.kind === 'link' && other.kind === 'link' && one.target === other.target;
}

/** The nearest directory that is still there. */
function standing(tree: KnownTree, node: TreeNode): TreeNode {
  let nearest = node;
  for (let at: TreeNode | undefined = node; at !== undefined; at = at.parent) {
    if (at.parent !== undefined && at.parent.children?.get(at.name) !== at) {
      nearest = at.parent;
    }
  }
  return nearest === node || nearest.parent !== undefined ? nearest : tree.root;
}
