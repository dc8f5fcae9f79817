import type { TreeChange } from '../types.js';

/**
 * Where files that appeared in a look came from: `renamedFrom` of the look where it could tell, else
 * the only path that went with the very same bytes.
 */
export function renamesIn(changes: readonly TreeChange[]): ReadonlyMap<string, string> {
  const found = new Map<string, string>();
  for (const change of changes) {
    if (change.renamedFrom !== undefined) found.set(change.path, change.renamedFrom);
  }
  const taken = new Set(found.values());
  const gone = byBytes(changes, (change) =>
    change.after === undefined && !taken.has(change.path) ? change.before : undefined,
  );
  const come = byBytes(changes, (change) =>
    change.before === undefined && !found.has(change.path) ? change.after : undefined,
  );
  for (const [bytes, paths] of come) {
    const from = gone.get(bytes);
    const [path] = paths;
    // More than one on either side: a copy, or a coincidence.
    if (paths.length === 1 && from?.length === 1 && path !== undefined && from[0] !== undefined) {
      found.set(path, from[0]);
    }
  }
  return found;
}

function byBytes(
  changes: readonly TreeChange[],
  pick: (change: TreeChange) => TreeChange['after'],
): Map<string, string[]> {
  const groups = new Map<string, string[]>();
  for (const change of changes) {
    const state = pick(change);
    // Empty files are all alike.
    if (state?.kind !== 'file' || state.blob === undefined || state.size === 0) continue;
    const paths = groups.get(state.blob);
    if (paths === undefined) groups.set(state.blob, [change.path]);
    else paths.push(change.path);
  }
  return groups;
}
