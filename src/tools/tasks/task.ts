import { err, ok, type Result } from '../../lib/result.js';

export const TASK_STATUSES = ['pending', 'in_progress', 'completed'] as const;
export type TaskStatus = (typeof TASK_STATUSES)[number];

export interface Task {
  readonly id: string;
  readonly subject: string;
  readonly description: string;
  readonly activeForm?: string;
  readonly status: TaskStatus;
  readonly owner?: string;
  readonly metadata?: Readonly<Record<string, unknown>>;
  /** Tasks that wait for this one; the other side of their `blockedBy`. */
  readonly blocks: readonly string[];
  readonly blockedBy: readonly string[];
}

export interface TaskList {
  /** Never goes back, so that the id of a deleted task is not given again. */
  readonly nextId: number;
  readonly tasks: readonly Task[];
}

export interface TaskChange {
  readonly subject?: string | undefined;
  readonly description?: string | undefined;
  readonly activeForm?: string | undefined;
  /** An empty string removes the owner. */
  readonly owner?: string | undefined;
  readonly status?: TaskStatus | 'deleted' | undefined;
  readonly addBlocks?: readonly string[] | undefined;
  readonly addBlockedBy?: readonly string[] | undefined;
  /** Merged into what is there; null removes a key. */
  readonly metadata?: Readonly<Record<string, unknown>> | undefined;
  /** The update is refused unless the task still has this status, from which the step was approved. */
  readonly from?: TaskStatus | undefined;
}

export interface TaskChanged {
  readonly list: TaskList;
  readonly updatedFields: readonly string[];
  readonly statusChange?: { readonly from: TaskStatus; readonly to: TaskStatus | 'deleted' };
}

/** The list after a change to one task, all of it or none. */
export function applyChange(
  list: TaskList,
  id: string,
  change: TaskChange,
): Result<TaskChanged, string> {
  const task = list.tasks.find((each) => each.id === id);
  if (task === undefined) return err(unknownTask(id, list.tasks));
  // fail-closed: what was agreed to was another step.
  if (change.from !== undefined && change.from !== task.status) {
    return err(`Task ${id} is ${task.status} by now, not ${change.from}. Look at it again.`);
  }
  if (change.status === 'deleted') {
    return ok({
      list: { ...list, tasks: without(list.tasks, id) },
      updatedFields: ['status'],
      statusChange: { from: task.status, to: 'deleted' },
    });
  }
  const { changed, fields } = withFields(task, change);
  let tasks = list.tasks.map((each) => (each.id === id ? changed : each));
  const edges = [
    ...(change.addBlocks ?? []).map((other) => [id, other] as const),
    ...(change.addBlockedBy ?? []).map((other) => [other, id] as const),
  ];
  for (const [blocker, blocked] of edges) {
    const linked = withEdge(tasks, blocker, blocked);
    if (!linked.ok) return linked;
    if (linked.value !== tasks) fields.add(blocker === id ? 'blocks' : 'blockedBy');
    tasks = [...linked.value];
  }
  return ok({
    list: { ...list, tasks },
    updatedFields: [...fields],
    ...(changed.status === task.status
      ? {}
      : { statusChange: { from: task.status, to: changed.status } }),
  });
}

export function unknownTask(id: string, tasks: readonly Task[]): string {
  const known = tasks.slice(0, 50).map((task) => task.id);
  const more = tasks.length > known.length ? ` and ${tasks.length - known.length} more` : '';
  const list = known.length === 0 ? 'There are none yet.' : `Known: ${known.join(', ')}${more}.`;
  return `No task "${id}". ${list}`;
}

const PLAIN_FIELDS = ['subject', 'description', 'activeForm', 'owner', 'status'] as const;

function withFields(task: Task, change: TaskChange): { changed: Task; fields: Set<string> } {
  const fields = new Set<string>();
  const values: Record<string, unknown> = {};
  for (const field of PLAIN_FIELDS) {
    if (change[field] === undefined || change[field] === (task[field] ?? '')) continue;
    fields.add(field);
    values[field] = change[field];
  }
  if (change.metadata !== undefined) {
    fields.add('metadata');
    const merged = { ...task.metadata, ...change.metadata };
    values.metadata = Object.fromEntries(
      Object.entries(merged).filter(([, value]) => value !== null),
    );
  }
  const { owner, ...rest } = { ...task, ...values };
  // A task without an owner has no `owner` field; an empty name would count as one.
  const changed: Task = owner === undefined || owner === '' ? rest : { ...rest, owner };
  return { changed, fields };
}

/** Both sides of "blocker blocks blocked"; the same array when it was there already. */
function withEdge(
  tasks: readonly Task[],
  blocker: string,
  blocked: string,
): Result<readonly Task[], string> {
  const from = tasks.find((task) => task.id === blocker);
  const to = tasks.find((task) => task.id === blocked);
  if (from === undefined) return err(unknownTask(blocker, tasks));
  if (to === undefined) return err(unknownTask(blocked, tasks));
  if (from.blocks.includes(blocked) && to.blockedBy.includes(blocker)) return ok(tasks);
  const way = pathBetween(tasks, blocked, blocker);
  if (way !== undefined) {
    const circle = [blocker, ...way].join(' → ');
    return err(`Task ${blocker} cannot block ${blocked}: they would wait in a circle (${circle}).`);
  }
  return ok(
    tasks.map((task) => {
      if (task.id === blocker) return { ...task, blocks: union(task.blocks, blocked) };
      if (task.id === blocked) return { ...task, blockedBy: union(task.blockedBy, blocker) };
      return task;
    }),
  );
}

/** Ids from one task to another along `blocks`; undefined when there is no way. */
function pathBetween(tasks: readonly Task[], from: string, to: string): string[] | undefined {
  const byId = new Map(tasks.map((task) => [task.id, task]));
  const cameFrom = new Map<string, string | undefined>([[from, undefined]]);
  const queue = [from];
  for (const id of queue) {
    if (id === to) {
      const way: string[] = [];
      for (let at: string | undefined = id; at !== undefined; at = cameFrom.get(at))
        way.unshift(at);
      return way;
    }
    for (const next of byId.get(id)?.blocks ?? []) {
      if (cameFrom.has(next)) continue;
      cameFrom.set(next, id);
      queue.push(next);
    }
  }
  return undefined;
}

function without(tasks: readonly Task[], id: string): readonly Task[] {
  const others = (ids: readonly string[]): readonly string[] => ids.filter((each) => each !== id);
  return tasks
    .filter((task) => task.id !== id)
    .map((task) => ({ ...task, blocks: others(task.blocks), blockedBy: others(task.blockedBy) }));
}

function union(ids: readonly string[], id: string): readonly string[] {
  return ids.includes(id) ? ids : [...ids, id];
}
