import { isRecord } from '../../lib/own.js';
import { isRewindablePath } from '../disk/workspace-files.js';
import type { LogEntry, RewindChange } from '../journal/entry.js';
import type { History } from '../journal/history.js';
import { isCount, isNodeState } from '../journal/states.js';
import type { NodeState, RewindTarget } from '../types.js';
import type { PathStep } from './structure.js';

/** A rewind as stored before it touches the first path. */
export interface StoredPlan {
  readonly version: 1;
  readonly id: string;
  readonly session: string;
  readonly root: string;
  readonly at: number;
  readonly target?: RewindTarget;
  /** The rewind that this one undoes. */
  readonly of?: string;
  readonly steps: readonly (PathStep & { readonly undoes: readonly number[] })[];
}

/** Undefined for an invalid plan. */
export function readPlan(text: string): StoredPlan | undefined {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    // Plans are renamed into place when complete, so this is not one.
    return undefined;
  }
  return isPlan(value) ? (value as unknown as StoredPlan) : undefined;
}

/** fail-closed: one invalid field rejects the whole plan. */
function isPlan(value: unknown): boolean {
  if (!isRecord(value) || !Array.isArray(value.steps)) return false;
  const { steps } = value;
  return (
    value.version === 1 &&
    isName(value.id) &&
    isName(value.session) &&
    isName(value.root) &&
    Number.isFinite(value.at) &&
    (value.of === undefined || isName(value.of)) &&
    (value.target === undefined || isRecord(value.target)) &&
    steps.every(isStep) &&
    new Set(steps.map(({ path }) => path)).size === steps.length
  );
}

function isName(value: unknown): boolean {
  return typeof value === 'string' && value !== '';
}

function isStep(value: unknown): value is { readonly path: string } {
  return (
    isRecord(value) &&
    typeof value.path === 'string' &&
    isRewindablePath(value.path) &&
    (value.from === undefined || isState(value.from)) &&
    (value.to === undefined || isState(value.to)) &&
    Array.isArray(value.undoes) &&
    value.undoes.every(isCount)
  );
}

/** Whether the state can be restored. */
function isState(value: unknown): boolean {
  if (!isNodeState(value) || value.kind === 'special') return false;
  return value.kind !== 'file' || value.blob !== undefined;
}

/** The setuid and setgid bits. */
const RIGHTS_BITS = 0o6000;

/** Whether a step would set a setuid or setgid bit that the path never had. */
export function givesRights({ path, from, to }: PathStep, history: History): boolean {
  const wanted = rightsOf(to);
  if (wanted === 0) return false;
  let known = rightsOf(from);
  for (const change of history.changes) {
    if (change.path === path) known |= rightsOf(change.before) | rightsOf(change.after);
  }
  return (wanted & ~known) !== 0;
}

function rightsOf(state: NodeState | undefined): number {
  return state !== undefined && 'mode' in state ? state.mode & RIGHTS_BITS : 0;
}

export function blobsOf(states: readonly (NodeState | undefined)[]): readonly string[] {
  return states.flatMap((state) =>
    state?.kind === 'file' && state.blob !== undefined ? [state.blob] : [],
  );
}

/** The journal entry of an executed plan, with the completed steps. */
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
        before: from,
        after: to,
        messageId,
        authors: [{ kind: 'rewind', id: plan.id }],
        undoes,
      }),
    );
  return {
    t: 'rewind',
    id: plan.id,
    at: plan.at,
    target: plan.target,
    of: plan.of,
    list,
  };
}

/** Directories that were only made writable temporarily. */
function isSame({ from, to }: PathStep): boolean {
  return from?.kind === 'directory' && to?.kind === 'directory' && from.mode === to.mode;
}
