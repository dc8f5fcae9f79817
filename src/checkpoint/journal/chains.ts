import type { Change } from '../types.js';
import type { History } from './history.js';

/**
 * What still counts of each path, oldest first: without what rewinds took back, and without the rewinds
 * themselves. A redo makes it count again.
 */
export function chainsOf(history: History): ReadonlyMap<string, readonly Change[]> {
  const gone = takenBack(history);
  const chains = new Map<string, Change[]>();
  for (const change of history.changes) {
    if (gone.has(change.seq)) continue;
    const chain = chains.get(change.path);
    if (chain === undefined) chains.set(change.path, [change]);
    else chain.push(change);
  }
  return chains;
}

function takenBack(history: History): ReadonlySet<number> {
  const gone = new Set<number>();
  const undoneBy = new Map<number, readonly number[]>();
  for (const rewind of history.rewinds) {
    for (const change of rewind.list) {
      gone.add(change.seq);
      undoneBy.set(change.seq, change.undoes);
      for (const seq of change.undoes) {
        const brought = undoneBy.get(seq);
        if (brought === undefined) gone.add(seq);
        else for (const back of brought) gone.delete(back);
      }
    }
  }
  return gone;
}
