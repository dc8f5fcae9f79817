import { sliceWhole } from '../../lib/truncate.js';
import type { LoopEvent, ModelAnswer } from '../../loop/types.js';
import {
  type AssistantBlock,
  addUsage,
  type ToolResultBlock,
  textOf,
  type Usage,
  ZERO_USAGE,
} from '../../protocol/content.js';
import type { TaskEnd, TaskUsage } from '../../protocol/session-events.js';
import type { TranscriptEntry } from '../../protocol/transcript.js';
import { refWithLimits } from '../limits/limits.js';
import type { AgentHost } from './agent-host.js';
import { type AgentAccount, type AgentEnd, type AgentReport, statusOf } from './report.js';
import type { Roster } from './roster.js';
import type { AgentRun, AgentRunPlan, SpawnRequest } from './run.js';

/** The mark at the head of an agent's transcript. */
export const AGENT_MARK = 'agent_started';

type Host = Pick<AgentHost, 'clock' | 'emit'>;

/** Counts and tells what an agent does. */
export class AgentLog {
  readonly #host: Host;
  readonly #plan: AgentRunPlan;
  readonly #started: number;
  #turns = 0;
  #toolUses = 0;
  #usage: Usage = ZERO_USAGE;
  #lastTokens = 0;
  readonly #models = new Set<string>();
  /** The last text that was not empty. */
  lastText = '';

  constructor(host: Host, plan: AgentRunPlan) {
    this.#host = host;
    this.#plan = plan;
    this.#started = host.clock.monotonic();
  }

  /** What is needed to go on with it. */
  head() {
    const { ref, definition, description, choice, above, once } = this.#plan;
    return {
      type: AGENT_MARK,
      agent: refWithLimits(ref, definition),
      description,
      model: choice.model,
      above,
      ...(once ? { once: true } : {}),
    };
  }

  answer({ usage, model, message }: ModelAnswer): void {
    this.#turns++;
    this.#usage = addUsage(this.#usage, usage);
    this.#lastTokens = tokensOf(usage);
    this.#models.add(model);
    const text = textOf(message.content);
    if (text.trim() !== '') this.lastText = text;
  }

  event(event: LoopEvent): void {
    const { ref, output } = this.#plan;
    switch (event.type) {
      case 'answer':
        for (const block of event.answer.message.content) this.#tellOf(block);
        break;
      case 'tool_result':
        output.log?.append(resultLine(event.result.block));
        break;
      case 'input':
      case 'retry':
        break;
      default:
        return;
    }
    this.#host.emit({ type: 'child', agent: ref, event });
  }

  usage(): TaskUsage {
    return {
      totalTokens: this.#lastTokens,
      toolUses: this.#toolUses,
      durationMs: Math.round(this.#host.clock.monotonic() - this.#started),
    };
  }

  account(costUsd: number | undefined): AgentAccount {
    return {
      agent: this.#plan.ref,
      turns: this.#turns,
      toolUses: this.#toolUses,
      usage: this.#usage,
      costUsd,
      models: [...this.#models],
      seconds: (this.#host.clock.monotonic() - this.#started) / 1000,
      lastTokens: this.#lastTokens,
    };
  }

  #tellOf(block: AssistantBlock): void {
    const { ref, description, output } = this.#plan;
    const line = output.log === undefined ? undefined : blockLine(block);
    if (line !== undefined) output.log?.append(line);
    if (block.type !== 'tool_use') return;
    this.#toolUses++;
    this.#host.emit({
      type: 'task_progress',
      agent: ref,
      description,
      usage: this.usage(),
      lastTool: block.name,
    });
  }
}

export function tokensOf(usage: Usage): number {
  return (
    usage.input_tokens +
    usage.output_tokens +
    usage.cache_creation_input_tokens +
    usage.cache_read_input_tokens
  );
}

/** An agent has begun. */
interface Announcer {
  readonly host: Host;
  readonly roster: Pick<Roster, 'running'>;
}

export function emitStarted(
  parts: Announcer,
  task: AgentRun,
  { prompt, toolUseId }: Pick<SpawnRequest, 'prompt' | 'toolUseId'>,
): void {
  const { emit } = parts.host;
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
export function emitFinished(parts: Announcer, task: AgentRun, report: AgentReport): void {
  const { emit, clock } = parts.host;
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

function tellBackground({ host, roster }: Announcer): void {
  const tasks = roster
    .running()
    .filter(({ ref }) => ref.background)
    .map(({ id, description, ref }) => ({
      taskId: id,
      taskType: 'local_agent' as const,
      description,
      agentType: ref.type,
    }));
  host.emit({ type: 'background_tasks', tasks });
}

/** What of an input or a result is shown to whoever looks on. */
const SHOWN = 500;

/** A block of an answer as people read it who look on; undefined: it is not shown. */
export function blockLine(block: AssistantBlock): string | undefined {
  if (block.type === 'text') return block.text;
  if (block.type !== 'tool_use') return undefined;
  return `→ ${block.name} ${sliceWhole(JSON.stringify(block.input), 0, SHOWN)}`;
}

export function resultLine({ content, is_error }: ToolResultBlock): string {
  const text = typeof content === 'string' ? content : textOf(content);
  return `${is_error === true ? '✗' : '✓'} ${sliceWhole(text, 0, SHOWN)}`;
}

/** The same of a transcript, of an agent that has no other output. */
export function outputOf(entries: readonly TranscriptEntry[]): string {
  const lines: string[] = [];
  for (const entry of entries) {
    if (entry.type === 'assistant') {
      for (const block of entry.message.content) lines.push(...[blockLine(block) ?? []].flat());
    }
    if (entry.type !== 'user' || typeof entry.message.content === 'string') continue;
    for (const block of entry.message.content) {
      if (block.type === 'tool_result') lines.push(resultLine(block));
    }
  }
  return lines.map((line) => `${line}\n`).join('');
}
