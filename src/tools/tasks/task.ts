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
