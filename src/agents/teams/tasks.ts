import { err, ok, type Result } from '../../lib/result.js';
import type { Task, TaskChange, TaskList } from '../../tools/tasks/task.js';
import type { TaskReview, TaskStore, TaskStoreDeps } from '../../tools/tasks/task-store.js';
import { teamFiles } from './host/files.js';
import { LEAD } from './records.js';

/** Locks a task list against other processes during a change. */
export const exclusiveTasks: NonNullable<TaskStoreDeps['exclusive']> = async (file, work) => {
  const done = await teamFiles.exclusive(`${file}.lock`, work);
  // fail-closed: a list that cannot be locked is not changed.
  return done.ok ? done.value : err(`the list of tasks cannot be used just now: ${done.error}`);
};

/** A team member that changes tasks. */
interface Claimant {
  readonly name: string;
  /** Running members of the team, including the lead. */
  living(): readonly string[];
}

/**
 * Rules of ownership: starting a task claims it, and a task that is claimed or blocked cannot be started.
 * The lead may assign and unassign tasks.
 */
export function claims(claimant: Claimant, taskId: string): TaskReview {
  return (list, change) => {
    const task = list.tasks.find(({ id }) => id === taskId);
    // Applying the change reports an unknown task.
    if (task === undefined) return ok(change);
    const refusal =
      takenBy(task, change, claimant) ?? givenTo(change, claimant) ?? waits(list, task, change);
    if (refusal !== undefined) return err(refusal);
    const isUnclaimed = task.owner === undefined && change.owner === undefined;
    const begins = isUnclaimed && change.status === 'in_progress';
    return ok(begins ? { ...change, owner: claimant.name } : change);
  };
}

function takenBy(
  { id, owner, status }: Task,
  change: TaskChange,
  { name }: Claimant,
): string | undefined {
  if (owner === undefined || owner === name || name === LEAD) return undefined;
  // Every member may add links and comments.
  if (change.status === undefined && change.owner === undefined) return undefined;
  return `Task ${id} is ${owner}'s (${status}): you cannot have it. Choose another one, or ask ${owner} or the lead.`;
}

function givenTo({ owner }: TaskChange, { name, living }: Claimant): string | undefined {
  if (owner === undefined || owner === '' || owner === name) return undefined;
  if (name !== LEAD) return 'Only the lead gives tasks to others: send a message instead.';
  const known = living();
  if (known.includes(owner)) return undefined;
  return `There is no "${owner}" in the team who could do it. There are: ${known.join(', ')}.`;
}

function waits(list: TaskList, { id, blockedBy }: Task, change: TaskChange): string | undefined {
  if (change.status !== 'in_progress' && change.status !== 'completed') return undefined;
  const isOpen = (one: string): boolean =>
    list.tasks.some((task) => task.id === one && task.status !== 'completed');
  const left = [...blockedBy, ...(change.addBlockedBy ?? [])].filter(isOpen);
  if (left.length === 0) return undefined;
  return `Task ${id} waits for ${left.join(', ')}: it cannot be ${change.status === 'completed' ? 'completed' : 'begun'} before.`;
}

/** Reopens the unfinished tasks of a member that has left. */
export async function releaseTasks(
  tasks: Pick<TaskStore, 'list' | 'update'>,
  listId: string,
  name: string,
): Promise<Result<readonly string[], string>> {
  const isHeld = ({ owner, status }: Task): boolean => owner === name && status !== 'completed';
  const list = await tasks.list(listId);
  if (!list.ok) return list;
  const released: string[] = [];
  for (const { id } of list.value.filter(isHeld)) {
    const done = await tasks.update(listId, id, { status: 'pending', owner: '' }, (now, change) =>
      now.tasks.some((one) => one.id === id && isHeld(one)) ? ok(change) : err('taken'),
    );
    if (done.ok) released.push(id);
  }
  return ok(released);
}

/** The tasks that a member has started and not finished. */
export async function tasksInProgress(
  tasks: Pick<TaskStore, 'list'>,
  listId: string,
  name: string,
): Promise<readonly Task[]> {
  const list = await tasks.list(listId);
  if (!list.ok) return [];
  return list.value.filter(({ owner, status }) => owner === name && status === 'in_progress');
}
