import { Turns } from '../../platform/turns.js';
import type { BlobStore } from '../disk/blob-store.js';
import type { ChangeLog, JournalParts } from '../journal/change-log.js';
import { sameState, whyNotStored } from '../journal/states.js';
import type { Author, NodeState, RewindItem, RewindPlan, RewindTarget } from '../types.js';
import type { Candidate } from './candidates.js';
import { countLines } from './diff.js';
import { type Draft, fitTogether, type Step } from './structure.js';
import type { Selection } from './target.js';

/** Compares the desired states with the present ones without writing. */
export async function draftFor(
  candidates: readonly Candidate[],
  journal: Pick<JournalParts, 'workspace' | 'store'>,
  overwriteConflicts = false,
): Promise<Draft> {
  const steps: Step[] = [];
  const conflicts: (RewindItem & { readonly why: string })[] = [];
  const impossible: { readonly what: string; readonly why: string }[] = [];
  const turns = new Turns();
  for (const candidate of candidates) {
    await turns.pause();
    const { path, to, undoes, newest } = candidate;
    const found = await journal.workspace.find(path);
    const from = found.ok ? found.value : undefined;
    if (found.ok && sameState(from, to)) continue;
    const hindrance = found.ok ? await whyNot(candidate, from, journal.store) : found.error;
    if (hindrance !== undefined) {
      impossible.push({ what: path, why: hindrance });
      continue;
    }
    const { seq, authors } = newest;
    const item: RewindItem = { path, action: actionFor(from, to), seq, authors };
    const why = candidate.foreign ?? whyUnsure(candidate, from);
    if (why !== undefined && !overwriteConflicts) conflicts.push({ ...item, why });
    else steps.push({ path, from, to, undoes, item });
  }
  const fitted = await fitTogether(steps, journal.workspace);
  return {
    steps: fitted.steps,
    conflicts: [...conflicts, ...fitted.conflicts].sort(byPath),
    impossible: [...impossible, ...fitted.impossible],
  };
}

const NOT_KEPT = 'its current content cannot be kept';

/** Why a path cannot be restored at all. */
async function whyNot(
  { to, expected }: Candidate,
  from: NodeState | undefined,
  store: BlobStore,
): Promise<string | undefined> {
  if (to?.kind === 'special' || from?.kind === 'special') {
    return 'it is no file, directory or link (a pipe, a socket or a device)';
  }
  if (to !== undefined) {
    const missing = whyNotStored(to);
    if (missing !== undefined) return `what stood there before was not kept: ${missing}`;
    // fail-closed: a file is touched only when its old content is stored and intact.
    if (to.kind === 'file' && (to.blob === undefined || !(await store.read(to.blob)))) {
      return 'what stood there before is no longer in the store';
    }
  }
  if (from?.kind !== 'file') return undefined;
  // Without a copy of the present content the rewind could not be undone.
  if (from.blob === undefined) return `${NOT_KEPT}: ${whyNotStored(from)}`;
  if (expected?.kind !== 'file') return undefined;
  const large = expected.unstored === 'too-large' || expected.unstored === 'over-cap';
  return large ? `${NOT_KEPT}: ${whyNotStored(expected)}` : undefined;
}

/** Why the path may contain a change that the journal missed. */
function whyUnsure({ expected }: Candidate, from: NodeState | undefined): string | undefined {
  if (sameState(from, expected)) return undefined;
  if (expected !== undefined && whyNotStored(expected) !== undefined) {
    return 'its content was not kept, so it is unknown whether it was changed since';
  }
  return 'it was changed while the journal did not run';
}

function actionFor(from: NodeState | undefined, to: NodeState | undefined): RewindItem['action'] {
  if (from === undefined) return 'create';
  if (to === undefined) return 'delete';
  const sameBytes =
    (from.kind === 'directory' && to.kind === 'directory') ||
    (from.kind === 'file' && to.kind === 'file' && from.blob === to.blob);
  return sameBytes ? 'mode' : 'overwrite';
}

function byPath(a: { readonly path: string }, b: { readonly path: string }): number {
  return a.path < b.path ? -1 : 1;
}

const MISSED = 'changes that the journal may have missed';

/** A plan for people and hosts. */
export async function presentPlan(
  {
    id,
    target,
    draft,
    selection,
    running,
  }: {
    readonly id: string;
    readonly target: RewindTarget;
    readonly draft: Draft;
    /** Absent for a redo. */
    readonly selection?: Selection | undefined;
    /** Authors that may still write. */
    readonly running: readonly Author[];
  },
  journal: Pick<JournalParts, 'log' | 'store' | 'workspace'>,
): Promise<RewindPlan> {
  return {
    id,
    target,
    restored: draft.steps.flatMap(({ item }) => item ?? []),
    conflicts: draft.conflicts,
    impossible: [...draft.impossible, ...unreachable(selection, journal.log)],
    ...(await linesOf(draft.steps, journal)),
    stillRunning: running,
  };
}

/** Changes that the journal could not record. */
function unreachable(selection: Selection | undefined, log: ChangeLog): RewindPlan['impossible'] {
  if (selection === undefined) return [];
  const { history } = log;
  const elsewhere = history.outside
    .filter((record) => selection.includes(record))
    .map(({ what, why }) => ({ what, why }));
  const gaps = new Set([
    ...history.points.slice(Math.max(0, selection.fromTurn)).flatMap((point) => point.gaps),
    ...log.gaps,
  ]);
  return [...elsewhere, ...[...gaps].map((why) => ({ what: MISSED, why }))];
}

/** The limit for counting lines, which are only informative. */
const MOST_BYTES = 16 << 20;

async function linesOf(
  steps: readonly Step[],
  { store, workspace }: Pick<JournalParts, 'store' | 'workspace'>,
): Promise<{ readonly insertions: number; readonly deletions: number }> {
  let insertions = 0;
  let deletions = 0;
  let bytes = 0;
  for (const { path, from, to } of steps) {
    bytes += sizeOf(from) + sizeOf(to);
    if (bytes > MOST_BYTES) break;
    const lines = await countLines(from, to, {
      async read(id) {
        const kept = await store.read(id);
        if (kept !== undefined) return kept;
        const present = await workspace.read(path);
        return present.ok ? present.value : undefined;
      },
    });
    insertions += lines.insertions;
    deletions += lines.deletions;
  }
  return { insertions, deletions };
}

function sizeOf(state: Step['from']): number {
  return state?.kind === 'file' ? state.size : 0;
}
