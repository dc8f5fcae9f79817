import type { RewindFiles } from '../disk/workspace-files.js';
import type { ChangeLog } from '../journal/change-log.js';
import type { Author, BlobStore, RewindPlan, RewindTarget } from '../types.js';
import { countLines } from './diff.js';
import type { Draft, Step } from './step.js';
import type { Selection } from './target.js';

export interface PlanAbout {
  readonly id: string;
  readonly target: RewindTarget;
  readonly draft: Draft;
  /** Absent for a redo. */
  readonly selection: Selection | undefined;
  readonly log: ChangeLog;
  readonly store: BlobStore;
  readonly workspace: RewindFiles;
  readonly running: readonly Author[];
}

const MISSED = 'changes that the journal may have missed';

/** A plan as a person or a host sees it. */
export async function presentPlan(about: PlanAbout): Promise<RewindPlan> {
  const { id, target, draft, running } = about;
  return {
    id,
    target,
    restored: draft.steps.flatMap(({ item }) => item ?? []),
    conflicts: draft.conflicts,
    impossible: [...draft.impossible, ...unreachable(about)],
    ...(await linesOf(draft.steps, about)),
    stillRunning: running,
  };
}

/** What happened elsewhere, and what nobody saw. */
function unreachable({ selection, log }: PlanAbout): RewindPlan['impossible'] {
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

/** More bytes than this are not compared for the sake of two numbers. */
const MOST_BYTES = 16 << 20;

async function linesOf(
  steps: readonly Step[],
  { store, workspace }: PlanAbout,
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
