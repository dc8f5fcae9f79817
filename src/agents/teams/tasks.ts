import { err, ok, type Result } from '../../lib/result.js';
import { join } from '../../platform/fs/paths.js';
import type { Task, TaskChange, TaskList } from '../../tools/tasks/task.js';
import type { TaskReview, TaskStore, TaskStoreDeps } from '../../tools/tasks/task-store.js';
import type { TeamFiles } from './host/files.js';
import { LEAD } from './records.js';

/** Keeps other processes from a list of tasks while one changes it. */
export function exclusiveTasks(
  files: Pick<TeamFiles, 'exclusive'>,
): NonNullable<TaskStoreDeps['exclusive']> {
  return async (file, work) => {
    const done = await files.exclusive(`${file}.lock`, work);
    if (done.ok) return done.value;
    // fail-closed: what others may be changing at this moment is not changed.
    return err(`the list of tasks cannot be used just now: ${done.error}`);
  };
}

/** What a list of tasks is to one of a team. */
export interface TaskHands {
  /** Who asks. */
  readonly name: string;
  /** Who is in the team and lives, the lead included. */
  living(): readonly string[];
}

/**
 * Whose task is whose: who begins one has it, nobody begins what another has begun, and nobody begins
 * what waits for something else. The lead may give tasks out and take them back.
 */
export function claims({ name, living }: TaskHands, taskId: string): TaskReview {
  return (list, change) => {
    const task = list.tasks.find(({ id }) => id === taskId);
    // Whoever applies it says that there is none.
    if (task === undefined) return ok(change);
    const isLead = name === LEAD;
    const refusal =
      takenBy(task, { name, isLead, change }) ??
      givenTo(change, { name, isLead, living }) ??
      waits(list, task, change);
    if (refusal !== undefined) return err(refusal);
    return ok(withOwner(task, change, name));
  };
}

function takenBy(
  { id, owner, status }: Task,
  { name, isLead, change }: { name: string; isLead: boolean; change: TaskChange },
): string | undefined {
  if (owner === undefined || owner === name || isLead) return undefined;
  // Links to other tasks and remarks are everybody's.
  const touches = change.status !== undefined || change.owner !== undefined;
  if (!touches) return undefined;
  return `Task ${id} is ${owner}'s (${status}): you cannot have it. Choose another one, or ask ${owner} or the lead.`;
}

function givenTo(
  { owner }: TaskChange,
  { name, isLead, living }: { name: string; isLead: boolean; living(): readonly string[] },
): string | undefined {
  if (owner === undefined || owner === '' || owner === name) return undefined;
  if (!isLead) return 'Only the lead gives tasks to others: send a message instead.';
  const known = living();
  return known.includes(owner)
    ? undefined
    : `There is no "${owner}" in the team who could do it. There are: ${known.join(', ')}.`;
}

function waits(list: TaskList, { id, blockedBy }: Task, change: TaskChange): string | undefined {
  if (change.status !== 'in_progress' && change.status !== 'completed') return undefined;
  const open = new Set(
    list.tasks.filter(({ status }) => status !== 'completed').map((task) => task.id),
  );
  const left = [...blockedBy, ...(change.addBlockedBy ?? [])].filter((one) => open.has(one));
  if (left.length === 0) return undefined;
  return `Task ${id} waits for ${left.join(', ')}: it cannot be ${change.status === 'completed' ? 'completed' : 'begun'} before.`;
}

function withOwner(task: Task, change: TaskChange, name: string): TaskChange {
  const begins = change.status === 'in_progress' && change.owner === undefined;
  return begins && task.owner === undefined ? { ...change, owner: name } : change;
}

/** What somebody had begun who is gone is anybody's again. */
export async function releaseTasks(
  tasks: Pick<TaskStore, 'list' | 'update'>,
  listId: string,
  name: string,
): Promise<Result<readonly string[], string>> {
  const list = await tasks.list(listId);
  if (!list.ok) return list;
  const left = list.value.filter((task) => task.owner === name && task.status !== 'completed');
  const released: string[] = [];
  for (const { id } of left) {
    const done = await tasks.update(listId, id, { status: 'pending', owner: '' }, (now, change) => {
      const task = now.tasks.find((one) => one.id === id);
      return task?.owner === name && task.status !== 'completed' ? ok(change) : err('taken');
    });
    if (done.ok) released.push(id);
  }
  return ok(released);
}

/** Those that somebody has begun and not finished. */
export async function begunBy(
  tasks: Pick<TaskStore, 'list'>,
  listId: string,
  name: string,
): Promise<readonly Task[]> {
  const list = await tasks.list(listId);
  if (!list.ok) return [];
  return list.value.filter(({ owner, status }) => owner === name && status === 'in_progress');
}

/** Where the lists are. */
export function taskDirectory(configDir: string): string {
  return join(configDir, 'tasks');
}
