import type { FindPart } from './tree-find.js';
import { pathOf, type TreeNode } from './tree-node.js';

/** More starting points cost more than an uneven division. */
const MOST_STARTS = 24;

/**
 * Divides a tree so that several processes have about the same to do. The first part is all the rest.
 * No process starts in or below a directory of `closed`.
 */
export function divideTree(root: TreeNode, count: number, closed: ReadonlySet<string>): FindPart[] {
  const weights = new Map<TreeNode, number>();
  const total = weigh(root, weights);
  const share = total / count;
  const parts: { starts: string[]; left: number }[] = [];
  for (let at = 1; at < count; at++) parts.push({ starts: [], left: share });
  const offer = [...directories(root, weights)];
  while (
    offer.length > 0 &&
    parts.reduce((sum, part) => sum + part.starts.length, 0) < MOST_STARTS
  ) {
    offer.sort((one, other) => other.weight - one.weight);
    const largest = offer.shift();
    if (largest === undefined || largest.weight < total / (count * 10)) break;
    const roomiest = parts.reduce((best, part) => (part.left > best.left ? part : best));
    const path = pathOf(largest.node);
    if (closed.has(path)) continue;
    if (largest.weight <= roomiest.left * 1.1) {
      roomiest.starts.push(path);
      roomiest.left -= largest.weight;
    } else for (const one of directories(largest.node, weights)) offer.push(one);
  }
  const used = parts.filter((part) => part.starts.length > 0);
  return [
    { starts: [], closed: used.flatMap((part) => part.starts) },
    ...used.map(({ starts }) => ({ starts, closed: [] })),
  ];
}

function directories(
  node: TreeNode,
  weights: ReadonlyMap<TreeNode, number>,
): { node: TreeNode; weight: number }[] {
  return (
    [...(node.children?.values() ?? [])]
      // One without anything in it may stand for another file system.
      .filter((child) => child.children !== undefined && child.children.size > 0)
      .map((child) => ({ node: child, weight: weights.get(child) ?? 0 }))
  );
}

/** Not by recursion: a tree may be deeper than the stack. */
function weigh(root: TreeNode, weights: Map<TreeNode, number>): number {
  const all = [root];
  for (const one of all) {
    for (const child of one.children?.values() ?? [])
      if (child.children !== undefined) all.push(child);
  }
  // Those below come after those above, so that from the end each is complete when it is added.
  for (const node of all.reverse()) {
    const files = (node.children?.size ?? 0) - directoriesIn(node);
    weights.set(node, (weights.get(node) ?? 0) + 1 + files);
    const { parent } = node;
    if (node !== root && parent !== undefined) {
      weights.set(parent, (weights.get(parent) ?? 0) + (weights.get(node) ?? 0));
    }
  }
  return weights.get(root) ?? 1;
}

function directoriesIn(node: TreeNode): number {
  let count = 0;
  for (const child of node.children?.values() ?? []) if (child.children !== undefined) count++;
  return count;
}
