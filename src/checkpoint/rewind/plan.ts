import { Turns } from '../../platform/turns.js';
import { isRewindablePath, type RewindFiles } from '../disk/workspace-files.js';
import { sameState, whyNotStored } from '../journal/states.js';
import type { BlobStore, NodeState, RewindItem } from '../types.js';
import type { Candidate } from './candidates.js';
import { type Draft, type Step, stepOf } from './step.js';
import { fitTogether } from './structure.js';

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
