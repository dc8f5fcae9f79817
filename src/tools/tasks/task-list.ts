import { messageOf } from '../../errors.js';
import { err, ok, type Result } from '../../lib/result.js';
import type { ToolInputs } from '../../protocol/tools.schema.js';
import { defineTool } from '../define-tool.js';
import { failure } from '../output.js';
import type { AnyTool, Tool, ToolContext } from '../tool.js';
import { applyChange, type Task, type TaskChange, unknownTask } from './task.js';
import createDescription from './task-create.md';
import getDescription from './task-get.md';
import listDescription from './task-list.md';
import type { TaskReview, TaskStore } from './task-store.js';
import updateDescription from './task-update.md';

/** Looks at what happens to tasks and may object. What it returns is the reason, for the model. */
export interface TaskWatch {
  /** Asked when the task has its id. An objection takes it off the list again. */
  created(task: Task, context: ToolContext): Promise<string | undefined>;
  /** Asked before the task is shown as completed. An objection leaves it unchanged. */
  completed(task: Task, context: ToolContext): Promise<string | undefined>;
}

export interface TaskToolDeps {
  readonly tasks: TaskStore;
  readonly watch?: TaskWatch | undefined;
  /** Which list an agent works on; default: its session's. */
  readonly listId?: ((context: ToolContext) => string) | undefined;
  /** Whose task is whose, where several work on one list. */
  readonly review?: ((context: ToolContext, taskId: string) => TaskReview | undefined) | undefined;
}

/** TaskCreate, TaskGet, TaskList and TaskUpdate over one store. */
export function taskListTools(deps: TaskToolDeps): readonly AnyTool[] {
  return [createTool(deps), getTool(deps), listTool(deps), updateTool(deps)];
}

function createTool(deps: TaskToolDeps): Tool<ToolInputs['TaskCreate']> {
  return defineTool({
    name: 'TaskCreate',
    offered: 'on-request',
    kind: 'control',
    description: createDescription,
    subject: (input) => ({ paths: [], summary: `New task: ${input.subject}` }),
    async run(input, context) {
      const made = await deps.tasks.create(listOf(deps, context), input);
      if (!made.ok) return failure(made.error);
      const { id, subject, description } = made.value;
      const objection = await objectionOf(() => deps.watch?.created(made.value, context));
      if (objection !== undefined) {
        const removed = await deps.tasks.update(listOf(deps, context), id, { status: 'deleted' });
        const left = removed.ok ? '' : `\nTask ${id} is still on the list: ${removed.error}`;
        return failure(`The task "${subject}" was not created: ${objection}${left}`);
      }
      return {
        content: `Task ${id} created: ${subject}`,
        structured: { task: { id, subject, description } },
      };
    },
  });
}

function getTool(deps: TaskToolDeps): Tool<ToolInputs['TaskGet']> {
  return defineTool({
    name: 'TaskGet',
    offered: 'on-request',
    kind: 'control',
    description: getDescription,
    subject: (input) => ({ paths: [], summary: `Task ${input.taskId}` }),
    concurrencySafe: () => true,
    async run(input, context) {
      const list = await deps.tasks.list(listOf(deps, context));
      if (!list.ok) return failure(list.error);
      const task = list.value.find((each) => each.id === input.taskId);
      if (task === undefined) {
        return { ...failure(unknownTask(input.taskId, list.value)), structured: { task: null } };
      }
      return { content: inFull(task), structured: { task } };
    },
  });
}

function listTool(deps: TaskToolDeps): Tool<ToolInputs['TaskList']> {
  return defineTool({
    name: 'TaskList',
    offered: 'on-request',
    kind: 'control',
    description: listDescription,
    subject: () => ({ paths: [], summary: 'List tasks' }),
    concurrencySafe: () => true,
    async run(_input, context) {
      const list = await deps.tasks.list(listOf(deps, context));
      if (!list.ok) return failure(list.error);
      const done = new Set(
        list.value.filter((task) => task.status === 'completed').map((task) => task.id),
      );
      const tasks = list.value.map(({ id, subject, status, owner, blockedBy }) => ({
        id,
        subject,
        status,
        owner,
        blockedBy: blockedBy.filter((blocker) => !done.has(blocker)),
      }));
      const content = tasks.length === 0 ? 'No tasks.' : tasks.map(inOneLine).join('\n');
      return { content, structured: { tasks } };
    },
  });
}

function updateTool(deps: TaskToolDeps): Tool<ToolInputs['TaskUpdate']> {
  return defineTool({
    name: 'TaskUpdate',
    offered: 'on-request',
    kind: 'control',
    description: updateDescription,
    subject: (input) => ({ paths: [], summary: `Change task ${input.taskId}` }),
    async run(input, context) {
      const { taskId, ...change } = input;
      const agreed = await agreedChange(deps, { taskId, change, context });
      const result = agreed.ok
        ? await deps.tasks.update(
            listOf(deps, context),
            taskId,
            agreed.value,
            deps.review?.(context, taskId),
          )
        : agreed;
      if (!result.ok) {
        const structured = { success: false, taskId, updatedFields: [], error: result.error };
        return { ...failure(result.error), structured };
      }
      const { updatedFields, statusChange } = result.value;
      const structured = { success: true, taskId, updatedFields, statusChange };
      return { content: changeText(taskId, updatedFields, statusChange?.to), structured };
    },
  });
}

/** The change as it may be made, or why it may not: a step to completed is looked at first. */
async function agreedChange(
  deps: TaskToolDeps,
  call: { readonly taskId: string; readonly change: TaskChange; readonly context: ToolContext },
): Promise<Result<TaskChange, string>> {
  const { taskId, change, context } = call;
  const { watch } = deps;
  if (watch === undefined || change.status !== 'completed') return ok(change);
  const list = await deps.tasks.list(listOf(deps, context));
  if (!list.ok) return list;
  const preview = applyChange({ nextId: 0, tasks: list.value }, taskId, change);
  if (!preview.ok) return preview;
  const { statusChange, list: after } = preview.value;
  const task = after.tasks.find((each) => each.id === taskId);
  const now = list.value.find((each) => each.id === taskId);
  if (statusChange === undefined || task === undefined) return ok({ ...change, from: now?.status });
  const objection = await objectionOf(() => watch.completed(task, context));
  if (objection !== undefined) {
    return err(`Task ${taskId} stays ${statusChange.from}: ${objection}`);
  }
  return ok({ ...change, from: statusChange.from });
}

async function objectionOf(
  ask: () => Promise<string | undefined> | undefined,
): Promise<string | undefined> {
  try {
    return await ask();
  } catch (thrown) {
    // fail-closed: who was to be asked could not be.
    return `it could not be looked at (${messageOf(thrown)})`;
  }
}

function listOf(deps: TaskToolDeps, context: ToolContext): string {
  return deps.listId?.(context) ?? context.sessionId;
}

function changeText(id: string, fields: readonly string[], status: string | undefined): string {
  if (status === 'deleted') return `Task ${id} deleted.`;
  if (fields.length === 0) return `Task ${id} was like that already.`;
  const now = status === undefined ? '' : `; it is now ${status}`;
  return `Task ${id} updated (${fields.join(', ')})${now}.`;
}

function inOneLine(task: Pick<Task, 'id' | 'subject' | 'status' | 'owner' | 'blockedBy'>): string {
  const owner = task.owner === undefined ? '' : ` (${task.owner})`;
  const blocked = task.blockedBy.length === 0 ? '' : ` [blocked by ${task.blockedBy.join(', ')}]`;
  return `${task.id}. [${task.status}] ${task.subject}${owner}${blocked}`;
}

function inFull(task: Task): string {
  const lines = [inOneLine(task), task.description];
  if (task.blocks.length > 0) lines.push(`Blocks: ${task.blocks.join(', ')}`);
  if (task.metadata !== undefined) lines.push(`Metadata: ${JSON.stringify(task.metadata)}`);
  return lines.join('\n');
}
