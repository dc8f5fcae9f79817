import { Turns } from '../../platform/turns.js';
import type { CheckpointFiles } from '../disk/state-files.js';
import { type JournalParts, loadHistory } from '../journal/change-log.js';
import { sameState } from '../journal/states.js';
import { type Applied, applySteps } from './apply.js';
import { givesRights, readPlan, recordOf, type StoredPlan } from './plan-file.js';
import type { PathStep } from './structure.js';

/** What exists before the session's journal is open; `notice` informs people. */
type RecoveryParts = Pick<JournalParts, 'root' | 'files' | 'workspace' | 'store'> & {
  readonly notice: (text: string) => void;
};

/** Longer than another program's rewind should take. */
const WAIT_MS = 15_000;

/**
 * Completes the interrupted rewinds of all sessions in this workspace, or undoes those whose contents are
 * missing, so that the tree is entirely before or after each.
 */
export async function recoverRewinds(parts: RecoveryParts): Promise<void> {
  if (parts.files.unfinishedPlans().length === 0) return;
  const trouble = parts.workspace.trouble();
  if (trouble !== undefined) {
    parts.notice(`An interrupted rewind was left as it is: ${trouble}.`);
    return;
  }
  const held = await parts.files.exclusive(WAIT_MS, async () => {
    for (const { file, text } of parts.files.unfinishedPlans()) {
      const plan = readPlan(text);
      if (plan === undefined) {
        // fail-closed: an unreadable plan is not executed.
        parts.files.setPlanAside(file);
        parts.notice('An interrupted rewind cannot be read and was left as it is.');
      } else if (plan.root === parts.root) await recover(plan, file, parts);
    }
  });
  if (held === undefined) parts.notice('Another program rewinds this workspace at the moment.');
}

async function recover(plan: StoredPlan, file: string, parts: RecoveryParts): Promise<void> {
  const direction = await directionFor(plan, parts);
  if (direction === undefined) {
    // fail-closed: without the contents nothing more is touched.
    parts.files.setPlanAside(file);
    parts.notice(
      `An interrupted rewind could neither be completed nor taken back: its contents are missing. ` +
        `Paths: ${plan.steps.map(({ path }) => path).join(', ')}`,
    );
    return;
  }
  const steps = direction === 'forward' ? plan.steps : plan.steps.map(reversed);
  const history = await loadHistory(parts.files, plan.session);
  const unfounded = steps.find((step) => givesRights(step, history));
  if (unfounded !== undefined) {
    // fail-closed: a plan alone never makes a file setuid or setgid.
    parts.files.setPlanAside(file);
    parts.notice(
      `An interrupted rewind was left as it is: it would let ${JSON.stringify(unfounded.path)} run ` +
        `with the rights of its owner or group, and the journal does not know it so.`,
    );
    return;
  }
  const applied = await applySteps(steps, plan.id, parts);
  if (direction === 'forward') await writeDown(plan, applied, parts.files);
  parts.files.removePlan(file);
  const left = applied.failed.map(({ path, why }) => `${path} (${why})`).join(', ');
  parts.notice(
    `An interrupted rewind was ${direction === 'forward' ? 'completed' : 'taken back'}.` +
      (left === '' ? '' : ` Left as they are: ${left}`),
  );
}

/** Forward when all new contents are available, else back when all old ones are. */
async function directionFor(
  plan: StoredPlan,
  { workspace, store }: RecoveryParts,
): Promise<'forward' | 'back' | undefined> {
  const canReach = async (steps: readonly PathStep[]): Promise<boolean> => {
    const turns = new Turns();
    for (const { path, to } of steps) {
      await turns.pause();
      const now = await workspace.find(path);
      if (now.ok && sameState(now.value, to)) continue;
      const id = to?.kind === 'file' ? to.blob : undefined;
      if (id !== undefined && (await store.read(id)) === undefined) return false;
    }
    return true;
  };
  if (await canReach(plan.steps)) return 'forward';
  return (await canReach(plan.steps.map(reversed))) ? 'back' : undefined;
}

function reversed({ path, from, to }: PathStep): PathStep {
  return { path, from: to, to: from };
}

/** Records the rewind in its session's journal, so that a resumed session can redo it. */
async function writeDown(
  plan: StoredPlan,
  applied: Applied,
  files: CheckpointFiles,
): Promise<void> {
  const history = await loadHistory(files, plan.session);
  if (history.rewinds.some(({ id }) => id === plan.id)) return;
  const log = files.openLog(plan.session);
  try {
    log.append([JSON.stringify(recordOf(plan, applied.done, history))]);
  } finally {
    log.close();
  }
}
