import { Turns } from '../../platform/turns.js';
import { isRewindablePath, type RewindFiles } from '../disk/workspace-files.js';
import type { ChangeLog } from '../journal/change-log.js';
import { sameState, whyNotStored } from '../journal/states.js';
import type {
  Author,
  BlobStore,
  NodeState,
  RewindItem,
  RewindPlan,
  RewindTarget,
} from '../types.js';
import type { Candidate } from './candidates.js';
import { countLines } from './diff.js';
import { type Draft, type Step, stepOf } from './step.js';
import { fitTogether } from './structure.js';
import type { Selection } from './target.js';

export interface PlanParts {
  readonly files: RewindFiles;
  readonly store: BlobStore;
  readonly overwriteConflicts: boolean;
}

/** Compares what is wanted with what stands there now. Nothing is written. */
export async function draftFor(candidates: readonly Candidate[], parts: PlanParts): Promise<Draft> {
  const steps: Step[] = [];
  const conflicts: (RewindItem & { readonly why: string })[] = [];
  const impossible: { readonly what: string; readonly why: string }[] = [];
  const turns = new Turns();
  for (const candidate of candidates) {
    await turns.pause();
    const verdict = await judge(candidate, parts);
    if (verdict.kind === 'restore') steps.push(verdict.step);
    else if (verdict.kind === 'conflict') conflicts.push({ ...verdict.item, why: verdict.why });
    else if (verdict.kind === 'impossible') {
      impossible.push({ what: candidate.path, why: verdict.why });
    }
  }
  const fitted = await fitTogether(steps, parts.files);
  return {
    steps: fitted.steps,
    conflicts: [...conflicts, ...fitted.conflicts].sort(byPath),
    impossible: [...impossible, ...fitted.impossible],
  };
}

type Verdict =
  | { readonly kind: 'as-wanted' }
  | { readonly kind: 'restore'; readonly step: Step }
  | { readonly kind: 'conflict'; readonly item: RewindItem; readonly why: string }
  | { readonly kind: 'impossible'; readonly why: string };

async function judge(candidate: Candidate, parts: PlanParts): Promise<Verdict> {
  const { path, to, undoes } = candidate;
  if (!isRewindablePath(path)) return impossible('its path is not one that may be written');
  const found = await parts.files.find(path);
  if (!found.ok) return impossible(found.error);
  const from = found.value;
  if (sameState(from, to)) return { kind: 'as-wanted' };
  const hindrance = await whyNot(candidate, from, parts.store);
  if (hindrance !== undefined) return impossible(hindrance);
  const item: RewindItem = {
    path,
    action: actionFor(from, to),
    seq: candidate.newest.seq,
    authors: candidate.newest.authors,
  };
  const why = candidate.foreign ?? whyUnsure(candidate, from);
  if (why !== undefined && !parts.overwriteConflicts) return { kind: 'conflict', item, why };
  return { kind: 'restore', step: stepOf({ path, from, to, undoes, item }) };
}

function impossible(why: string): Verdict {
  return { kind: 'impossible', why };
}

const NOT_KEPT = 'what stands there now cannot be kept';

/** What makes a path impossible to put back, whoever has changed it. */
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
    // fail-closed: a file is only touched when what it is to hold is surely there.
    if (to.kind === 'file' && !(to.blob !== undefined && (await store.has(to.blob)))) {
      return 'what stood there before is no longer in the store';
    }
  }
  if (from?.kind !== 'file') return undefined;
  // Without a copy of what stands there now the rewind could not be taken back.
  if (from.blob === undefined) return `${NOT_KEPT}: ${whyNotStored(from)}`;
  if (expected?.kind !== 'file') return undefined;
  const large = expected.unstored === 'too-large' || expected.unstored === 'over-cap';
  return large ? `${NOT_KEPT}: ${whyNotStored(expected)}` : undefined;
}

/** Whether somebody has changed it whom the journal did not see. */
function whyUnsure({ expected }: Candidate, from: NodeState | undefined): string | undefined {
  if (sameState(from, expected)) return undefined;
  if (expected !== undefined && whyNotStored(expected) !== undefined) {
    return 'its bytes were not kept, so nobody can tell whether it was changed since';
  }
  return 'it is not as it was left: somebody changed it while the journal did not run';
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

interface PlanAbout {
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
