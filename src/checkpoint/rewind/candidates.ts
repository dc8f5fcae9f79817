import type { RewindRecord } from '../journal/entry.js';
import type { History } from '../journal/history.js';
import type { Author, Change, NodeState } from '../types.js';
import type { Selection } from './target.js';

/** A path to restore, before its present state is checked. */
export interface Candidate {
  readonly path: string;
  /** The desired state. */
  readonly to: NodeState | undefined;
  /** The state if no other author has touched it. */
  readonly expected: NodeState | undefined;
  readonly newest: Change;
  /** The changes undone with it. */
  readonly undoes: readonly number[];
  /** Why another author's work would be lost. */
  readonly foreign?: string;
}

export function candidatesOf(history: History, selection: Selection): readonly Candidate[] {
  const found: Candidate[] = [];
  for (const [path, chain] of history.chains()) {
    const first = chain.findIndex((change) => selection.judge(change) !== 'no');
    const oldest = chain[first];
    const newest = chain.at(-1);
    if (oldest === undefined || newest === undefined) continue;
    const since = chain.slice(first);
    const foreign = foreignIn(since, selection);
    found.push({
      path,
      to: oldest.before,
      expected: newest.after,
      newest,
      undoes: since.map(({ seq }) => seq),
      foreign,
    });
  }
  return found.sort((a, b) => (a.path < b.path ? -1 : 1));
}

/** The paths that undo a rewind. */
export function candidatesOfRedo(history: History, rewind: RewindRecord): readonly Candidate[] {
  const chains = history.chains();
  return rewind.list.map((change) => {
    const later = (chains.get(change.path) ?? []).filter(({ seq }) => seq > change.seq);
    const last = later.at(-1);
    return {
      path: change.path,
      to: change.before,
      expected: change.after,
      newest: change,
      undoes: [change.seq, ...later.map(({ seq }) => seq)],
      foreign: last === undefined ? undefined : `${namesOf(last.authors)} changed it since`,
    };
  });
}

/** The last rewind that was not undone. */
export function lastRewind(history: History): RewindRecord | undefined {
  const redone = new Set(history.rewinds.map(({ of }) => of));
  return history.rewinds.findLast(({ id, of }) => of === undefined && !redone.has(id));
}

function foreignIn(since: readonly Change[], selection: Selection): string | undefined {
  const other = since.findLast((change) => selection.judge(change) === 'no');
  if (other !== undefined) return `${namesOf(other.authors)} changed it since`;
  const unsure = since.findLast((change) => selection.judge(change) === 'unsure');
  return unsure && `${namesOf(unsure.authors)} ran at once, and each may have changed it`;
}

function namesOf(authors: readonly Author[]): string {
  return [...new Set(authors.map(nameOf))].join(' and ');
}

function nameOf(author: Author): string {
  switch (author.kind) {
    case 'user':
      return 'the person or another program';
    case 'call':
      return `${author.tool} of ${author.agent.path}`;
    case 'hook':
      return `the hook ${author.name}`;
    case 'rewind':
      return 'an earlier rewind';
  }
}
