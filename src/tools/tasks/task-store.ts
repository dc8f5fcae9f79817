import { messageOf } from '../../errors.js';
import { fileNameFor } from '../../lib/file-name.js';
import { parseJson } from '../../lib/json.js';
import { isRecord } from '../../lib/own.js';
import { KeyedQueue } from '../../lib/queue.js';
import { err, ok, type Result } from '../../lib/result.js';
import type { FileSystem } from '../../platform/fs/fs.js';
import { join } from '../../platform/fs/paths.js';
import {
  applyChange,
  TASK_STATUSES,
  type Task,
  type TaskChange,
  type TaskChanged,
  type TaskList,
} from './task.js';

export type NewTask = Pick<Task, 'subject' | 'description'> &
  Partial<Pick<Task, 'activeForm' | 'metadata'>>;

/** Task lists on disk, one file each. A failure is a sentence for the model. */
export interface TaskStore {
  create(listId: string, task: NewTask): Promise<Result<Task, string>>;
  list(listId: string): Promise<Result<readonly Task[], string>>;
  /** `review` sees the list as it is at that very moment, and may want another change or none. */
  update(
    listId: string,
    id: string,
    change: TaskChange,
    review?: TaskReview,
  ): Promise<Result<TaskChanged, string>>;
}

/** Reviews a change to a list: the change to make, or an error that refuses it. */
export type TaskReview = (list: TaskList, change: TaskChange) => Result<TaskChange, string>;

export interface TaskStoreDeps {
  readonly fs: Pick<FileSystem, 'stat' | 'readText' | 'writeAtomic'>;
  readonly directory: string;
  /** Keeps other processes from the file meanwhile. Absent: there are none. */
  readonly exclusive?: <T>(
    file: string,
    work: () => Promise<Result<T, string>>,
  ) => Promise<Result<T, string>>;
}

export function createTaskStore(deps: TaskStoreDeps): TaskStore {
  const lists = new KeyedQueue();
  /** Shows the list to `work` while no other process reads and writes it. */
  const inTurn = <T>(listId: string, work: (list: TaskList) => Promise<Result<T, string>>) => {
    const whole = async (): Promise<Result<T, string>> => {
      const list = await load(deps, listId);
      return list.ok ? await work(list.value) : list;
    };
    return lists.add(listId, () => deps.exclusive?.(fileOf(deps, listId), whole) ?? whole());
  };
  return {
    create: (listId, task) =>
      inTurn(listId, async ({ nextId, tasks }) => {
        const id = String(nextId);
        const made: Task = { ...task, id, status: 'pending', blocks: [], blockedBy: [] };
        const saved = await save(deps, listId, { nextId: nextId + 1, tasks: [...tasks, made] });
        return saved.ok ? ok(made) : saved;
      }),
    list: (listId) => inTurn(listId, async ({ tasks }) => ok(tasks)),
    update: (listId, id, wanted, review) =>
      inTurn(listId, async (list) => {
        const change = review?.(list, wanted) ?? ok(wanted);
        if (!change.ok) return change;
        const changed = applyChange(list, id, change.value);
        if (!changed.ok) return changed;
        const saved = await save(deps, listId, changed.value.list);
        return saved.ok ? changed : saved;
      }),
  };
}

function fileOf(deps: TaskStoreDeps, listId: string): string {
  return join(deps.directory, `${fileNameFor(listId)}.json`);
}

async function load(deps: TaskStoreDeps, listId: string): Promise<Result<TaskList, string>> {
  const file = fileOf(deps, listId);
  let text: string;
  try {
    if ((await deps.fs.stat(file)) === undefined) return ok({ nextId: 1, tasks: [] });
    text = await deps.fs.readText(file);
  } catch (thrown) {
    return err(`the task list ${file} cannot be read: ${messageOf(thrown)}`);
  }
  const parsed = parseJson(text);
  if (parsed.ok && isTaskList(parsed.value)) return ok(parsed.value);
  // fail-closed: what cannot be read is not overwritten with a new list.
  const reason = parsed.ok ? 'it does not hold a task list' : parsed.error;
  return err(`the task list ${file} is damaged (${reason}); repair or remove it`);
}

async function save(
  deps: TaskStoreDeps,
  listId: string,
  list: TaskList,
): Promise<Result<undefined, string>> {
  const file = fileOf(deps, listId);
  const text = `${JSON.stringify(list, null, 2)}\n`;
  const readable = parseJson(text);
  if (!readable.ok) return err(`the task cannot be stored: ${readable.error}`);
  try {
    await deps.fs.writeAtomic(file, text, { mode: 0o600 });
    return ok(undefined);
  } catch (thrown) {
    return err(`the task list ${file} cannot be written: ${messageOf(thrown)}`);
  }
}

function isTaskList(value: unknown): value is TaskList {
  return (
    isRecord(value) &&
    Number.isSafeInteger(value.nextId) &&
    Array.isArray(value.tasks) &&
    value.tasks.every(isTask)
  );
}

function isTask(value: unknown): value is Task {
  return (
    isRecord(value) &&
    [value.id, value.subject, value.description].every((field) => typeof field === 'string') &&
    (TASK_STATUSES as readonly unknown[]).includes(value.status) &&
    isIdList(value.blocks) &&
    isIdList(value.blockedBy)
  );
}

function isIdList(value: unknown): boolean {
  return Array.isArray(value) && value.every((id) => typeof id === 'string');
}
