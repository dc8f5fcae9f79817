import type { TaskEnd } from '../../protocol/session-events.js';
import type { AgentHost } from './agent-host.js';
import { statusOf } from './outcome.js';
import type { AgentEnd, AgentReport } from './report.js';
import type { AgentTask, Roster, SpawnRequest } from './task.js';

/** Who hears of agents that come and go. */
export interface NewsParts {
  readonly world: Pick<AgentHost, 'emit' | 'clock'>;
  readonly roster: Pick<Roster, 'running'>;
}

/** An agent has begun. */
export function announce(
  parts: NewsParts,
  task: AgentTask,
  { prompt, toolUseId }: Pick<SpawnRequest, 'prompt' | 'toolUseId'>,
): void {
  const { emit } = parts.world;
  if (task.ref.background) tellBackground(parts);
  emit({
    type: 'task_started',
    taskId: task.id,
    toolUseId,
    description: task.description,
    agent: task.ref,
    prompt,
  });
}

/** An agent has ended. */
export function conclude(parts: NewsParts, task: AgentTask, report: AgentReport): void {
  const { emit, clock } = parts.world;
  const { end, account, agent } = report;
  const status = statusOf(end);
  emit({
    type: 'task_updated',
    taskId: task.id,
    status: status === 'stopped' ? 'killed' : status,
    endTime: clock.now(),
    ...(status === 'failed' && 'reason' in end ? { error: end.reason } : {}),
  });
  if (agent.background) tellBackground(parts);
  emit({
    type: 'task_finished',
    taskId: task.id,
    toolUseId: agent.spawnedBy ?? '',
    status,
    ...(end.kind === 'done' ? {} : { end: taskEnd(end) }),
    outputFile: task.outputFile,
    summary: task.description,
    usage: {
      totalTokens: account.lastTokens ?? 0,
      toolUses: account.toolUses,
      durationMs: Math.round(account.seconds * 1000),
    },
  });
}

function taskEnd(end: Exclude<AgentEnd, { kind: 'done' }>): TaskEnd {
  const { kind, reason } = end;
  return { kind, ...('by' in end ? { by: end.by } : {}), reason };
}

function tellBackground({ world, roster }: NewsParts): void {
  const tasks = roster
    .running()
    .filter(({ ref }) => ref.background)
    .map(({ id, description, ref }) => ({
      taskId: id,
      taskType: 'local_agent' as const,
      description,
      agentType: ref.type,
    }));
  world.emit({ type: 'background_tasks', tasks });
}
