import { Turns } from '../../platform/turns.js';
import type { JournalParts } from '../journal/change-log.js';
import type { NodeState, RewindTarget } from '../types.js';
import { type Applied, applySteps } from './apply.js';
import { blobsOf, recordOf, type StoredPlan } from './plan-file.js';
import type { Draft, Step } from './structure.js';

export interface RewindOrder {
  readonly id: string;
  readonly target: RewindTarget;
  /** The rewind to undo. */
  readonly of?: string | undefined;
  readonly draft: Draft;
  /** Called for each restored path, which the next scan will find. */
  readonly onWritten: (path: string, state: NodeState | undefined) => void;
}

export interface RewindRun {
  /** The draft without paths whose present content could not be saved. */
  readonly draft: Draft;
  readonly failed: Applied['failed'];
}

/**
 * Executes a draft: saves the present contents, stores the plan, restores the paths and records the result. A
 * killed run is completed at the next start.
 */
export async function carryOut(order: RewindOrder, parts: JournalParts): Promise<RewindRun> {
  const draft = await keepPresent(order.draft, parts);
  if (draft.steps.length === 0) {
    return { draft, failed: [] };
  }
  const { id, target, of } = order;
  const { session, root, clock } = parts;
  const steps = draft.steps.map(({ item: _, ...step }) => step);
  const plan: StoredPlan = { version: 1, id, session, root, at: clock.now(), target, of, steps };
  await parts.store.sync(blobsOf(plan.steps.flatMap(({ from, to }) => [from, to])));
  const file = parts.files.writePlan(plan.id, JSON.stringify(plan));
  const applied = await applySteps(plan.steps, plan.id, parts);
  const record = recordOf(plan, applied.done, parts.log.history);
  for (const { path, after } of record.list) order.onWritten(path, after);
  parts.log.append(record, { durable: true });
  parts.files.removePlan(file);
  return { draft, failed: applied.failed };
}

/** Saves the present contents; paths where that fails are left alone, because the rewind could not be undone. */
async function keepPresent(draft: Draft, parts: JournalParts): Promise<Draft> {
  const steps: Step[] = [];
  const impossible = [...draft.impossible];
  const turns = new Turns();
  for (const step of draft.steps) {
    await turns.pause();
    const why = await whyNotKept(step, parts);
    if (why === undefined) steps.push(step);
    else impossible.push({ what: step.path, why: `its current content cannot be kept: ${why}` });
  }
  return { ...draft, steps, impossible };
}

async function whyNotKept(
  { path, from }: Step,
  { store, workspace }: JournalParts,
): Promise<string | undefined> {
  if (from?.kind !== 'file' || from.blob === undefined) return undefined;
  if (await store.has(from.blob)) return undefined;
  const bytes = await workspace.read(path);
  if (!bytes.ok) return bytes.error;
  const id = await store.put(bytes.value);
  if (id === from.blob) return undefined;
  return id === undefined ? 'the store is full' : 'another process is writing to it';
}
