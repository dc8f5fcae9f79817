import type { SessionNews } from '../app.js';
import type { AgentEvent } from '../client/events.js';
import { textOf } from '../protocol/content.js';
import type { Frame, SystemArgs } from './wire.js';

type ChildEvent = Extract<AgentEvent, { type: 'child' }>;
type TaskNews = Extract<
  SessionNews,
  { type: 'task_started' | 'task_progress' | 'task_updated' | 'task_finished' | 'background_tasks' }
>;

interface FrameFacts {
  readonly sessionId: () => string;
  uuid(): string;
  /** Whether all that agents say is sent. */
  readonly agentTexts?: (() => boolean) | undefined;
}

/** What an agent says and does, under the call that started it. Its words are its starter's business. */
export function childFrames({ agent, event }: ChildEvent, options: FrameFacts): readonly Frame[] {
  const common = {
    parent_tool_use_id: agent.spawnedBy ?? null,
    agent_id: agent.id,
    subagent_type: agent.type,
    session_id: options.sessionId(),
  };
  const forwards = options.agentTexts?.() === true;
  switch (event.type) {
    case 'answer': {
      const { answer } = event;
      return answer.message.content.flatMap((block, index) => {
        // Hosts would take the words of an agent that is waited for as the answer to their prompt.
        if (block.type !== 'tool_use' && !agent.background && !forwards) return [];
        const message = {
          id: answer.id,
          type: 'message',
          role: 'assistant',
          model: answer.model,
          content: [block],
          stop_reason: null,
          stop_sequence: null,
          usage: answer.usage,
        };
        const uuid = answer.blockIds[index] ?? options.uuid();
        return [{ type: 'assistant', message, ...common, uuid }];
      });
    }
    case 'tool_result': {
      const { block, uuid } = event.result;
      const message = { role: 'user', content: [block] };
      return [{ type: 'user', message, ...common, ...toolUseResult(event.result), uuid }];
    }
    case 'input': {
      if (event.message.meta === true) return [];
      const { content, uuid } = event.message;
      return [{ type: 'user', message: { role: 'user', content }, ...common, uuid }];
    }
    default:
      return [];
  }
}

/** What happens to background work and agents. Commands tell of their ends alone: the rest is made here. */
export function createTaskFrames(): (event: TaskNews) => readonly SystemArgs[] {
  const shells = new Map<string, TaskRow>();
  let agents: readonly TaskRow[] = [];
  const all = (): SystemArgs => [
    'background_tasks_changed',
    { tasks: [...agents, ...shells.values()] },
  ];
  return (event) => {
    const told = taskFrame(event);
    if (event.type === 'background_tasks') {
      agents = event.tasks.map(taskRow);
      return [all()];
    }
    if (event.type === 'task_started' && event.agent === undefined) {
      const { taskId, description } = event;
      shells.set(taskId, taskRow({ taskId, description, taskType: 'local_bash' }));
      return [all(), told];
    }
    if (event.type !== 'task_finished' || !shells.delete(event.taskId)) return [told];
    const status = event.status === 'stopped' ? 'killed' : event.status;
    const updated: SystemArgs = [
      'task_updated',
      { task_id: event.taskId, patch: { status, end_time: Date.now() } },
    ];
    return [updated, told, all()];
  };
}

type TaskRow = Extract<SystemArgs, ['background_tasks_changed', unknown]>[1]['tasks'][number];

function taskRow({
  taskId,
  taskType,
  description,
  agentType,
}: Extract<TaskNews, { type: 'background_tasks' }>['tasks'][number]): TaskRow {
  return {
    task_id: taskId,
    task_type: taskType,
    description,
    subagent_type: agentType,
  };
}

function taskFrame(event: TaskNews): SystemArgs {
  switch (event.type) {
    case 'task_started':
      return ['task_started', startedFields(event)];
    case 'task_progress':
      return [
        'task_progress',
        {
          task_id: event.agent.id,
          ...toolUse(event.agent.spawnedBy),
          description: event.description,
          subagent_type: event.agent.type,
          usage: usageOf(event.usage),
          last_tool_name: event.lastTool,
        },
      ];
    case 'task_updated': {
      const { taskId, status, endTime, error } = event;
      const patch = { status, end_time: endTime, error };
      return ['task_updated', { task_id: taskId, patch }];
    }
    case 'task_finished':
      return [
        'task_notification',
        {
          task_id: event.taskId,
          ...toolUse(event.toolUseId),
          status: event.status,
          end: event.end,
          output_file: event.outputFile,
          summary: event.summary,
          usage: event.usage && usageOf(event.usage),
        },
      ];
    case 'background_tasks':
      return [
        'background_tasks_changed',
        {
          tasks: event.tasks.map(taskRow),
        },
      ];
  }
}

/** A question of a background agent, or what became of it. */
export function inboxFields(
  event: Extract<SessionNews, { type: 'inbox' }>,
): Extract<SystemArgs, ['inbox', unknown]>[1] {
  const { question, state, by } = event;
  return {
    state,
    question_id: question.id,
    agent_id: question.agent.id,
    agent_path: question.agent.path,
    subagent_type: question.agent.type,
    tool_use_id: question.toolUseId,
    tool_name: question.tool,
    summary: question.summary,
    reason: question.reason,
    expires_at: new Date(question.expiresAt).toISOString(),
    answered_by: by,
  };
}

function startedFields(event: Extract<TaskNews, { type: 'task_started' }>) {
  const { agent, prompt } = event;
  const common = {
    task_id: event.taskId,
    ...toolUse(event.toolUseId),
    description: event.description,
  };
  if (agent === undefined) return { ...common, task_type: 'local_bash', is_backgrounded: true };
  return {
    ...common,
    task_type: 'local_agent',
    is_backgrounded: agent.background,
    subagent_type: agent.type,
    spawn_depth: agent.depth,
    ...(agent.depth > 1 && agent.parentId !== undefined ? { parent_task_id: agent.parentId } : {}),
    prompt,
  };
}

/** A task that no tool call started has no id. */
function toolUse(id: string | undefined): Record<string, unknown> {
  return id === undefined || id === '' ? {} : { tool_use_id: id };
}

function usageOf(usage: Extract<TaskNews, { type: 'task_progress' }>['usage']) {
  return {
    total_tokens: usage.totalTokens,
    tool_uses: usage.toolUses,
    duration_ms: usage.durationMs,
  };
}

type ToolCallResult = Extract<AgentEvent, { type: 'tool_result' }>['result'];

/** The machine-readable result of a tool: its structured output, or the error text. */
export function toolUseResult({ block, structured }: ToolCallResult): {
  readonly tool_use_result?: unknown;
} {
  const { content } = block;
  if (block.is_error === true) {
    const text = typeof content === 'string' ? content : textOf(content);
    return { tool_use_result: `Error: ${text}` };
  }
  if (structured !== undefined) return { tool_use_result: structured };
  return typeof content === 'string' ? {} : { tool_use_result: content };
}
