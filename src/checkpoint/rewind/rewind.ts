import { Turns } from '../../platform/turns.js';
import type { JournalParts } from '../journal/change-log.js';
import type { NodeState, RewindTarget } from '../types.js';
import { type Applied, applySteps } from './apply.js';
import { blobsOf, recordOf, type StoredPlan } from './plan-file.js';
import type { Draft, Step } from './structure.js';

export interface RewindOrder {
  readonly id: string;
  readonly target: RewindTarget;
  /** The rewind to be taken back. */
  readonly of?: string | undefined;
  readonly draft: Draft;
  /** A path is now as the journal says; the next look will find it. */
  readonly onWritten: (path: string, state: NodeState | undefined) => void;
}

export interface Carried {
  /** The draft without what could not be kept after all. */
  readonly draft: Draft;
  readonly failed: Applied['failed'];
}

/**
 * Carries out a draft: what stands there is kept, the plan is written down, the paths are put back, the
 * journal is told. Whoever kills it in between finds it completed at the next start.
 */
export async function carryOut(order: RewindOrder, parts: JournalParts): Promise<Carried> {
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

/** Without a copy of what stands there, a rewind could not be taken back: such paths are left alone. */
async function keepPresent(draft: Draft, parts: JournalParts): Promise<Draft> {
  const steps: Step[] = [];
  const impossible = [...draft.impossible];
  const turns = new Turns();
  for (const step of draft.steps) {
    await turns.pause();
    const why = await whyNotKept(step, parts);
    if (why === undefined) steps.push(step);
    else impossible.push({ what: step.path, why: `what stands there now cannot be kept: ${why}` });
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
  return id === undefined ? 'the store is full' : 'somebody changes it at this moment';
}
