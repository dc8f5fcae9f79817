import type { FindPart } from './tree-find.js';
import { pathOf, type TreeNode } from './tree-node.js';

/** More starting points cost more than an uneven division: each is one pattern more for the rest. */
const MOST_STARTS = 64;

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
  // Less than that would not fill a share even with all starting points there may be.
  const least = share / MOST_STARTS;
  const offer = directories(root, weights, least);
  for (let starts = 0; offer.length > 0 && starts < MOST_STARTS; ) {
    offer.sort((one, other) => other.weight - one.weight);
    const largest = offer.shift();
    const [roomiest] = parts.sort((one, other) => other.left - one.left);
    if (largest === undefined || roomiest === undefined || roomiest.left < least) break;
    const path = pathOf(largest.node);
    if (closed.has(path)) continue;
    if (largest.weight <= roomiest.left * 1.1) {
      roomiest.starts.push(path);
      roomiest.left -= largest.weight;
      starts++;
    } else offer.push(...directories(largest.node, weights, least));
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
  least: number,
): { node: TreeNode; weight: number }[] {
  const found: { node: TreeNode; weight: number }[] = [];
  for (const child of node.children?.values() ?? []) {
    const weight = weights.get(child) ?? 0;
    // One without anything in it may stand for another file system.
    if (child.children !== undefined && child.children.size > 0 && weight >= least) {
      found.push({ node: child, weight });
    }
  }
  return found;
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
