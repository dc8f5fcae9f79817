import type { TreeNode } from '../disk/known-tree.js';
import type { NodeState, TreeChange } from '../types.js';

/** A change as it is gathered; `node` is what came or, where nothing stands there any more, what went. */
export interface Found {
  readonly path: string;
  readonly before?: NodeState | undefined;
  readonly after?: NodeState;
  readonly at: number;
  readonly node: TreeNode;
}

/** Whether nothing has changed for anybody who reads it. Files whose bytes are not known differ. */
export function isSameState(one: TreeNode, other: TreeNode): boolean {
  const [a, b] = [one.state, other.state];
  if (a.kind !== b.kind) return false;
  const isMode = a.kind === 'file' || a.kind === 'directory';
  if (isMode && one.mode !== other.mode) return false;
  return (a.kind !== 'file' && a.kind !== 'link') || isSameContent(one, other);
}

/** Names what has only moved: another path of this look had the same inode and the same bytes. */
export function withRenames(found: readonly Found[]): TreeChange[] {
  const gone = new Map<number, Found>();
  for (const one of found) if (one.after === undefined) gone.set(one.node.ino, one);
  return found.map(({ node, ...change }) => {
    const from = change.before === undefined ? gone.get(node.ino) : undefined;
    const isMoved = from !== undefined && isSameContent(from.node, node);
    return isMoved ? { ...change, renamedFrom: from.path } : change;
  });
}

function isSameContent(one: TreeNode, other: TreeNode): boolean {
  if (one.state.kind === 'file' && other.state.kind === 'file') {
    return one.hash !== undefined && one.hash === other.hash;
  }
  return (
    one.state.kind === 'link' &&
    other.state.kind === 'link' &&
    one.state.target === other.state.target
  );
}
