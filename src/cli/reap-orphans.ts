import {
  isSame,
  type ListedChild,
  listChildren,
  remainsOf,
} from '../platform/process/process-registry.js';
import {
  groupOf,
  processAlive,
  signalGroup,
  startTimeOf,
} from '../platform/process/process-tree.js';

/** What became of one child of a program that is gone. */
export interface ReapResult {
  readonly child: ListedChild;
  readonly outcome: 'ended' | 'still-runs' | 'not-provably-ours';
}

const GRACE_MS = 500;
const KILL_WAIT_MS = 1000;
const POLL_MS = 20;

/**
 * Ends what programs that are gone left running. Children of a program that lives are its own affair.
 * A pid is no name for a process: one is signalled only when its start time is the registered one, or
 * when it carries the child's marker in its environment.
 */
export async function reapOrphans(stateDirectory: string): Promise<readonly ReapResult[]> {
  const orphans = listChildren(stateDirectory).filter(({ ownerAlive }) => !ownerAlive);
  const reaped = await Promise.all(orphans.map(reap));
  // Tidies up the files of owners that have nothing left.
  listChildren(stateDirectory);
  return reaped;
}

async function reap(child: ListedChild): Promise<ReapResult> {
  const targets = targetsOf(child);
  // fail-closed: its leader is gone and nothing in the group says that it was ours.
  if (targets.length === 0 && !isLeaderOurs(child)) return { child, outcome: 'not-provably-ours' };
  signal(child, 'SIGTERM', targets);
  if (await goneWithin(child, GRACE_MS)) return { child, outcome: 'ended' };
  signal(child, 'SIGKILL', targetsOf(child));
  const isGone = await goneWithin(child, KILL_WAIT_MS);
  return { child, outcome: isGone ? 'ended' : 'still-runs' };
}

/** A start time is needed: without one nothing tells the leader from a later process of its number. */
function isLeaderOurs({ pid, startTime }: ListedChild): boolean {
  return startTime !== undefined && isSame(pid, startTime);
}

/** Marked processes with their start times, looked at again before each signal. */
function targetsOf(child: ListedChild): readonly { pid: number; startTime: string | undefined }[] {
  return remainsOf(child).map((pid) => ({ pid, startTime: startTimeOf(pid) }));
}

function signal(
  child: ListedChild,
  name: NodeJS.Signals,
  targets: ReturnType<typeof targetsOf>,
): void {
  // As long as its leader is the registered one, or one of its members is ours, the whole group is:
  // its number is not given out again while it lasts.
  const isGroupOurs = isLeaderOurs(child) || targets.some(({ pid }) => groupOf(pid) === child.pid);
  if (isGroupOurs) signalGroup(child.pid, name);
  for (const { pid, startTime } of targets) {
    if (startTime === undefined || !isSame(pid, startTime)) continue;
    try {
      process.kill(pid, name);
    } catch {
      // Gone in the meantime; whether it is, is looked at afterwards.
    }
  }
}

async function goneWithin(child: ListedChild, ms: number): Promise<boolean> {
  const deadline = performance.now() + ms;
  for (;;) {
    const runs = isLeaderOurs(child) || remainsOf(child).some(processAlive);
    if (!runs) return true;
    if (performance.now() >= deadline) return false;
    await new Promise((resolve) => setTimeout(resolve, POLL_MS));
  }
}
