import { isRewindablePath } from '../env/rewind-files.js';
import { isRecord } from '../util/own.js';
import type { LogEntry, RewindChange } from './entry.js';
import type { History } from './history.js';
import type { PathStep } from './step.js';
import type { NodeState, RewindTarget } from './types.js';

/** A rewind as it is written down before the first path is touched. */
export interface StoredPlan {
  readonly version: 1;
  readonly id: string;
  readonly session: string;
  readonly root: string;
  readonly at: number;
  readonly target?: RewindTarget;
  /** The rewind that this one takes back. */
  readonly of?: string;
  readonly steps: readonly (PathStep & { readonly undoes: readonly number[] })[];
}

/** Undefined: no plan that may be carried out. */
export function readPlan(text: string): StoredPlan | undefined {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    // A plan is renamed into its place when it is whole: this is none.
    return undefined;
  }
  const isPlan =
    isRecord(value) &&
    value.version === 1 &&
    typeof value.id === 'string' &&
    typeof value.session === 'string' &&
    typeof value.root === 'string' &&
    Array.isArray(value.steps) &&
    value.steps.every(isStep);
  return isPlan ? (value as unknown as StoredPlan) : undefined;
}

function isStep(value: unknown): boolean {
  return (
    isRecord(value) &&
    typeof value.path === 'string' &&
    // fail-closed: a path that leads elsewhere makes the whole plan one that nobody may carry out.
    isRewindablePath(value.path) &&
    Array.isArray(value.undoes)
  );
}

/** Contents that have to be there for the steps that are not done yet. */
export function blobsOf(states: readonly (NodeState | undefined)[]): readonly string[] {
  return states.flatMap((state) =>
    state?.kind === 'file' && state.blob !== undefined ? [state.blob] : [],
  );
}

/** What the journal says of a plan that was carried out, as far as it was. */
export function recordOf(
  plan: StoredPlan,
  done: ReadonlySet<string>,
  history: History,
): Extract<LogEntry, { t: 'rewind' }> {
  let seq = history.lastSeq;
  const messageId = history.points.at(-1)?.messageId;
  const list = plan.steps
    .filter((step) => done.has(step.path) && step.from !== step.to && !isSame(step))
    .map(
      ({ path, from, to, undoes }): RewindChange => ({
        seq: ++seq,
        path,
        at: plan.at,
        ...(from === undefined ? {} : { before: from }),
        ...(to === undefined ? {} : { after: to }),
        ...(messageId === undefined ? {} : { messageId }),
        authors: [{ kind: 'rewind', id: plan.id }],
        undoes,
      }),
    );
  return {
    t: 'rewind',
    id: plan.id,
    at: plan.at,
    ...(plan.target === undefined ? {} : { target: plan.target }),
    ...(plan.of === undefined ? {} : { of: plan.of }),
    list,
  };
}

/** A directory that was only opened for as long as it took. */
function isSame({ from, to }: PathStep): boolean {
  return from?.kind === 'directory' && to?.kind === 'directory' && from.mode === to.mode;
}
