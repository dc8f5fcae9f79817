import type { SessionEvent } from '../../client/events.js';
import type { AgentView } from '../../client/session-client.js';
import type { AgentRef } from '../../protocol/agent-ref.js';
import type { AgentSpent, BackgroundTask } from '../../protocol/session-events.js';
import type { QueuedText, Todo } from '../conversation.js';
import { type Line, line, STYLE, span } from '../screen/line.js';
import { formatCost, formatCount, formatDuration, plural } from './format.js';

const FRAMES = ['⠋', '⠙', '⠹', '⠸', '⠼', '⠴', '⠦', '⠧', '⠇', '⠏'];

/** Shows that something is going on, for how long, and how to stop it. */
export function activityRow(
  what: string,
  {
    now,
    since,
    characters,
  }: { readonly now: number; readonly since: number; readonly characters: number },
): Line {
  const frame = FRAMES[Math.floor(now / 100) % FRAMES.length] ?? '·';
  // Four characters to a token is what providers name as a rule of thumb; the exact count comes at the end.
  const tokens = characters === 0 ? '' : ` · ~${formatCount(Math.ceil(characters / 4))} tokens`;
  return line(
    span(`${frame} `, STYLE.accent),
    span(what),
    span(` ${formatDuration(now - since)}${tokens} · Esc to interrupt`, STYLE.dim),
  );
}

const TODO_ROWS = 8;
const TODO_MARKS = { pending: '☐', in_progress: '▶', completed: '☑' } as const;

/** The tasks that the model has set itself. */
export function todoRows(todos: readonly Todo[]): Line[] {
  const open = todos.filter(({ status }) => status !== 'completed');
  if (open.length === 0) return [];
  const done = todos.length - open.length;
  const shown = open.slice(0, TODO_ROWS).map(({ text, status }) => {
    const isActive = status === 'in_progress';
    const mark = span(`  ${TODO_MARKS[status]} `, isActive ? STYLE.accent : STYLE.dim);
    return line(mark, span(text, isActive ? STYLE.bold : undefined));
  });
  const more =
    open.length > TODO_ROWS ? [line(span(`  … ${open.length - TODO_ROWS} more`, STYLE.dim))] : [];
  return [line(span(`  ${done} of ${todos.length} tasks done`, STYLE.dim)), ...shown, ...more];
}

/** An agent that works for another one. */
interface AgentRow {
  readonly agent: AgentRef;
  readonly description: string;
  readonly since: number;
  /** The tool that it runs now. */
  tool: string | undefined;
  tokens: number;
  calls: number;
  spent: AgentSpent | undefined;
}

/** The agents that work now, as a tree. */
export class AgentTree {
  readonly #rows = new Map<string, AgentRow>();
  readonly #now: () => number;

  constructor(now: () => number) {
    this.#now = now;
  }

  get size(): number {
    return this.#rows.size;
  }

  clear(): void {
    this.#rows.clear();
  }

  /** Whether the end of a task is shown by the call that waits for it. */
  isAwaited(taskId: string): boolean {
    return this.#rows.get(taskId)?.agent.background === false;
  }

  follow(event: SessionEvent): void {
    if (event.type === 'task_started' && event.agent !== undefined) {
      const { agent, description } = event;
      const counts = { tool: undefined, tokens: 0, calls: 0, spent: undefined };
      this.#rows.set(agent.id, { agent, description, since: this.#now(), ...counts });
    } else if (event.type === 'task_progress') {
      const row = this.#rows.get(event.agent.id);
      if (row === undefined) return;
      row.tokens = event.usage.totalTokens;
      row.calls = event.usage.toolUses;
    } else if (event.type === 'tool') {
      const row = this.#rows.get(event.call.agent.id);
      if (row === undefined || event.state.kind === 'output') return;
      row.tool = event.state.kind === 'running' ? event.call.tool : undefined;
    } else if (event.type === 'task_finished') {
      this.#rows.delete(event.taskId);
    }
  }

  /** Takes over what each agent has used and may still use. */
  update(views: readonly AgentView[]): void {
    for (const { agent, spent } of views) {
      const row = this.#rows.get(agent.id);
      if (row !== undefined) row.spent = spent;
    }
  }

  /** `waiting`: the agents whose questions are open. */
  lines(waiting: ReadonlySet<string>): Line[] {
    const rows = [...this.#rows.values()].sort((a, b) => (a.agent.path < b.agent.path ? -1 : 1));
    return rows.map((row) => {
      const { agent, description, tool = 'thinking' } = row;
      const facts = [
        '',
        formatDuration(this.#now() - row.since),
        plural(row.calls, 'call'),
        `${formatCount(row.spent?.tokens ?? row.tokens)} tokens`,
        ...spentText(row.spent),
        ...(agent.background ? ['background'] : []),
      ];
      return line(
        span(`${'  '.repeat(agent.depth)}└ `, STYLE.dim),
        span(agent.path.split('/').at(-1) ?? agent.path, STYLE.accent),
        span(`  ${description}  `),
        waiting.has(agent.id) ? span('has a question', STYLE.warning) : span(tool, STYLE.dim),
        span(facts.join(' · '), STYLE.dim),
      );
    });
  }
}

function spentText(spent: AgentSpent | undefined): string[] {
  if (spent === undefined) return [];
  const { costUsd, left } = spent;
  const parts = [
    left.usd === undefined ? undefined : formatCost(left.usd),
    left.tokens === undefined ? undefined : `${formatCount(left.tokens)} tokens`,
    left.turns === undefined ? undefined : plural(left.turns, 'turn'),
    left.seconds === undefined ? undefined : formatDuration(left.seconds * 1000),
  ].filter((part) => part !== undefined);
  return [
    costUsd === null ? 'cost unknown' : formatCost(costUsd),
    ...(parts.length === 0 ? [] : [`left: ${parts.join(', ')}`]),
  ];
}

/** Commands that run in the background. */
export function taskRows(tasks: readonly BackgroundTask[]): Line[] {
  return tasks
    .filter(({ taskType }) => taskType === 'local_bash')
    .map(({ taskId, description }) =>
      line(
        span('  ◷ ', STYLE.accent),
        span(description),
        span(`  ${taskId} · background`, STYLE.dim),
      ),
    );
}

const QUEUE_ROWS = 4;

/** Prompts that wait for the running turn. */
export function queueRows(queue: readonly QueuedText[]): Line[] {
  if (queue.length === 0) return [];
  const rows = queue.slice(0, QUEUE_ROWS).map(({ text }) => line(span(`  ⧗ ${text}`, STYLE.dim)));
  const more = queue.length > QUEUE_ROWS ? ` (${queue.length} in all)` : '';
  const hint = `    queued${more} · Alt+Up takes the last one back`;
  return [...rows, line(span(hint, STYLE.dim))];
}
